#include "apps/options/option_groups.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace semicrf {
namespace {

struct OptionGroup {
  std::string_view heading;
  std::string_view command;  // the command that it is for; empty: every command
  std::string_view options;  // with blanks around each
};

// In the order in which they are shown. A group for one command goes before those for all.
constexpr std::array kGroups = {
    OptionGroup{"Options", "", " "},

    OptionGroup{
        "Reads", "count",
        " --samples --fasta --min-mapq --include-flags --exclude-flags --strand --count --shift --extend "
        "--fragments --mixed --longest-fragment --keep-dup --unsorted --groups --barcode-tag "},
    OptionGroup{"Values", "count", " --scale --control --control-as "},
    OptionGroup{"Binarised counts", "count",
                " --binarise --poisson --fold --min-count --strict --control-flank --control-pseudocount "
                "--chromhmm-out --cell "},
    OptionGroup{"Labels", "train", " --labels --background --unlabeled --tier "},
    OptionGroup{"Model", "train",
                " --emission --outliers --tie --max-duration --min-duration --tail --duration "
                "--boundary-window --edges --transform "
                "--centering --missing "
                "--init --freeze "},
    OptionGroup{"Model", "learn",
                " --labels --labels-known --preset --purity --ploidy --emission --outliers --tie --freeze "
                "--transform "
                "--binarize-tail --threshold --max-duration "
                "--min-duration --tail --duration --self-transitions --missing --missing-track "},
    OptionGroup{"Truth and prediction", "eval",
                " --truth --background --match --label-map --tolerance --merge-adjacent --tier "},
    OptionGroup{"Calibration", "eval",
                " --posterior --labels-posterior --intervals --reliability-bins --reliability-out "},
    OptionGroup{"Re-scoring", "eval",
                " --params --against --track-pattern --samples --sample --track-names --missing "
                "--missing-track --start-scores --end-scores --chromosomes --edges --bin-size "},
    OptionGroup{
        "What is shown", "report",
        " --params --segments --posterior --labels-posterior --truth --tier --tolerance --annotation "},
    OptionGroup{"Labels", "edit", " --rename-label --color --label-order --forbid "},
    OptionGroup{"Durations", "edit", " --duration --min-duration --scale "},
    OptionGroup{"Tracks", "edit", " --rename-track --drop-track-prefix "},
    OptionGroup{"Model and label posteriors", "describe", " --params --labels "},
    OptionGroup{"Label posteriors and boundaries", "compare", " --posterior --fdr --boundaries "},
    OptionGroup{"What is reproduced", "reproducibility",
                " --labels --match --tolerance --level --fold-size "},
    OptionGroup{"Sequences", "genes", " --sequences --proteins --coding "},
    OptionGroup{
        "What is known and what is told", "genes",
        " --hints --hints-as --hint-weight --masked-penalty --missed-cost --ends --strands --alternatives "},
    OptionGroup{"Sequences and annotation", "train-genes",
                " --annotation --partial --sequences --grammar --with --table --order --from --rounds "},
    OptionGroup{"Scores of a network", "genes", " --tracks --track --helixer "},
    OptionGroup{"Scores of a network", "train-genes",
                " --tracks --track --helixer --track-names --track-scale --track-floor --group-penalty "},
    OptionGroup{"Annotation", "eval-genes", " --truth --sequences --exons "},
    OptionGroup{"Draws", "simulate", " --draws --seed --length --name "},
    OptionGroup{"Description", "info", " --transitions --weights "},
    OptionGroup{"Template", "info", " --template --labels --tracks "},
    OptionGroup{"Units", "info", " --unit --rate "},
    OptionGroup{"Annotation", "enrich", " --by-name --centres --labels "},
    OptionGroup{"Neighbourhoods", "enrich", " --around --step --upstream --downstream "},
    OptionGroup{"Order and colours", "enrich", " --rows --order --scale "},
    OptionGroup{"Work", "bench",
                " --workload --positions --max-duration --labels --log-tail --score-scale --min-duration "
                "--forbidden --masked --seed "},
    OptionGroup{"Measurement", "bench", " --operation --repeats --check "},
    OptionGroup{"Input and output", "bench", " --io-only --params --output "},
    OptionGroup{"Model", "chromhmm", " --segments --max-duration --bin-size "},
    OptionGroup{"Model", "segway", " --segments --max-duration --min-duration --bin-size --distribution "},

    OptionGroup{"Model", "", " --params --claims --constraints --bias --edges --infeasible "},
    OptionGroup{"Segmentation", "", " --rule --threshold --gamma --best --only --merge-adjacent "},
    OptionGroup{"Inputs", "",
                " --track-pattern --samples --sample --track-names --label-names --missing --missing-track "
                "--start-scores --end-scores --unit --rate "},
    OptionGroup{"Regions, chromosomes and bins", "",
                " --region --regions-file --exclude --val-region --val-list --chrom-sizes --chromosomes "
                "--all-chromosomes --bin-size --sites "},
    OptionGroup{"Fit", "",
                " --init --restarts --margin --l2 --l2-boundary --l2-transition --smoothness --optimizer "
                "--max-iterations --tolerance --patience --learning-rate --schedule --warm-up --clip-norm "
                "--weight-decay --window --batch --seed "},
    OptionGroup{"Checkpoints", "", " --checkpoint --checkpoint-every --resume --resume-must-exist "},
    OptionGroup{
        "Results", "",
        " --output --prefix --posterior --table --boundaries --intervals --review --review-top --score "
        "--extra-columns --labels-out --starts-out --ends-out --counts-out --min-posterior --emissions "
        "--json --report --figures --title --svg --transitions --jaccard --switches --regions --disagreement "
        "--shifts --solutions "
        "--r-values --confident --curves --granularity --reliability-out --digits --write-index "
        "--no-header-comments "},
    OptionGroup{"Folder for programs of ChromHMM", "decode", " --chromhmm-out --cell "},
    OptionGroup{"Track hub", "", " --hub --hub-genome --hub-name --hub-email --no-hub-tracks "},
    OptionGroup{"Computation", "",
                " --threads --device --precision --max-memory --instruction-set --dry-run "},
    OptionGroup{"Statistics and messages", "",
                " --stats --no-entropy --multiqc --multiqc-name --progress --quiet --verbose --log-file "},
    OptionGroup{"Help", "", " --help --help-all "}};

std::string padded(std::string_view name) { return " --" + std::string(name) + " "; }

// The group of the option with this long name, those of the command first.
const OptionGroup* group_of(std::string_view command, std::string_view name) {
  const auto has = [&](std::string_view of) {
    return std::ranges::find_if(kGroups, [&](const OptionGroup& group) {
      return group.command == of && group.options.find(padded(name)) != std::string_view::npos;
    });
  };
  auto found = has(command);
  if (found == kGroups.end()) found = has("");
  return found == kGroups.end() ? nullptr : &*found;
}

}  // namespace

void group_options(CLI::App& program) {
  for (CLI::App* command : program.get_subcommands([](CLI::App*) { return true; })) {
    for (CLI::Option* option : command->get_options([](CLI::Option*) { return true; })) {
      if (option->get_lnames().empty() || option->get_group().empty()) continue;
      if (const OptionGroup* group = group_of(command->get_name(), option->get_lnames().front()))
        option->group(std::string(group->heading));
    }
    group_options(*command);
  }
}

std::vector<ShownGroup> shown_groups(const CLI::App& command) {
  std::vector<ShownGroup> shown;
  for (const OptionGroup& group : kGroups) {
    if (std::ranges::find(shown, group.heading, &ShownGroup::heading) != shown.end()) continue;
    ShownGroup one{group.heading, command.get_options([&](const CLI::Option* option) {
                     return option->nonpositional() && option->get_group() == group.heading;
                   })};
    std::ranges::stable_sort(one.options, {}, [&](const CLI::Option* option) {
      const std::string name = option->get_lnames().empty() ? "" : option->get_lnames().front();
      const OptionGroup* of = group_of(command.get_name(), name);
      return of == nullptr ? 0 : of->options.find(padded(name));
    });
    if (!one.options.empty()) shown.push_back(std::move(one));
  }
  return shown;
}

}  // namespace semicrf
