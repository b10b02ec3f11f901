// The subcommands. Each function adds one to the command line; it runs when it was chosen.
#pragma once

#include <CLI/CLI.hpp>

namespace semicrf {

void add_count_command(CLI::App& program);
void add_decode_command(CLI::App& program);
void add_posterior_command(CLI::App& program);
void add_query_command(CLI::App& program);
void add_describe_command(CLI::App& program);
void add_compare_command(CLI::App& program);
void add_reproducibility_command(CLI::App& program);
void add_enrich_command(CLI::App& program);
void add_eval_command(CLI::App& program);
void add_report_command(CLI::App& program);
void add_train_command(CLI::App& program);
void add_learn_command(CLI::App& program);
void add_genes_command(CLI::App& program);
void add_train_genes_command(CLI::App& program);
void add_eval_genes_command(CLI::App& program);
void add_simulate_command(CLI::App& program);
void add_edit_command(CLI::App& program);
void add_import_command(CLI::App& program);
void add_export_command(CLI::App& program);
void add_info_command(CLI::App& program);
void add_bench_command(CLI::App& program);
void add_manual_commands(CLI::App& program);  // man and completion

}  // namespace semicrf
