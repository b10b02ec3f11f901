"""The command line itself: versions, help, and what is refused before any file is read."""

import json
import re

from command_line import all_commands
from harness import check
from make_inputs import parameters

SHARED_OPTIONS = ["--output", "--write-index", "--prefix", "--region", "--regions-file", "--exclude", "--chrom-sizes",
                  "--bin-size", "--threads", "--device", "--precision", "--max-memory", "--dry-run", "--stats",
                  "--progress", "--log-file"]


def test_version_is_one_plain_line(box):
    first = box.ok("--version").stdout.splitlines()[0]
    check(re.fullmatch(r"semicrf \d+\.\d+\.\d+", first), "the first line is %r" % first)


def test_no_arguments_print_usage_and_exit_2(box):
    result = box.run([])
    check(result.code == 2, "%s" % result)
    check(result.stdout == "" and "decode" in result.stderr and "posterior" in result.stderr, "%s" % result)


def test_help_names_every_command(box):
    text = box.ok("--help").stdout
    lines = text[text.index("Subcommands:"):].split("\n\n")[0].splitlines()[1:]
    commands = ["count", "decode", "posterior", "query", "eval", "describe", "enrich", "compare", "reproducibility", "report", "train", "learn", "genes", "train-genes", "eval-genes", "simulate", "import", "export", "edit", "info", "bench"]
    check([line.split()[0] for line in lines] == commands, "not one line per command:\n%s" % text)


def test_help_of_each_run_names_every_option(box):
    for command, own in (("decode", ["--posterior", "--table", "--boundaries", "--intervals", "--review", "--review-top", "--score", "--merge-adjacent", "--extra-columns", "--rule", "--gamma", "--no-entropy", "--threshold", "--bias", "--no-header-comments"]),
                         ("posterior", ["--labels-out", "--starts-out", "--ends-out", "--counts-out", "--no-entropy", "--min-posterior", "--digits"]),
                         ("simulate", ["--length", "--name", "--seed", "--draws", "--emissions"])):
        text = box.ok([command, "--help-all"]).stdout
        for option in SHARED_OPTIONS + own + ["-@", "--start-scores", "--end-scores", "--infeasible", "--all-chromosomes"]:
            check(option in text, "no %s in %s --help" % (option, command))
        check("BED" in text if command != "posterior" else "bedGraph" in text, "the output is not described")


def test_bench_compares_a_run_with_its_input(box):
    box.fails("bench --io-only", 2)
    box.fails("bench -o out.bed", 2)
    lines = box.ok("bench --io-only -x cpu --repeats 1 -p scores.params.json -o out.bed scores.npy").stdout.splitlines()
    check([json.loads(line)["operation"] for line in lines] == ["io_only", "decode"], "%s" % lines)
    check(box.path("out.bed").exists(), "no out.bed")


def bench_lines(box, arguments):
    return [json.loads(line) for line in box.ok("bench -x cpu --repeats 1 " + arguments).stdout.splitlines()]


def test_bench_says_how_many_blocks_left_the_fast_path(box):
    lines = bench_lines(box, "-T 1600 -K 5 -C 3 --score-scale 30")
    operations = ["forward", "viterbi_sweep", "viterbi", "posterior", "gradient"]
    check([line["operation"] for line in lines] == operations, "%s" % lines)
    for line in lines:
        blocks = 100 * (2 if line["operation"] in ("posterior", "gradient") else 1)
        check(line["workload"] == "normal" and line["score_scale"] == 30, "%s" % line)
        check(abs(line["fallbacks_per_block"] - line["fallbacks"] / blocks) < 1e-5, "%s" % line)
        check(line["repaired_chunks"] >= 0, "%s" % line)


def test_bench_forbids_short_segments_and_scores(box):
    for line in bench_lines(box, "--workload chr11 -T 1000 --min-duration 10 --forbidden 0.01 --masked 0.02"):
        check(line["min_duration"] == 10 and line["forbidden"] == 0.01 and line["masked"] == 0.02, "%s" % line)
    for line in bench_lines(box, "-T 1600 -K 30 -C 3 --score-scale 10 --min-duration 10"):
        check(line["fallbacks_per_block"] < 0.05 and "forbidden" not in line, "%s" % line)


def test_bench_draws_workloads_like_real_ones(box):
    for name, length, shape in (("chr11", 1000, (500, 10, 1)), ("yeast", 1000, (2463, 8, 1)), ("speech", 40, (30, 39, 32))):
        lines = bench_lines(box, "--workload %s -T %d" % (name, length))
        check(len(lines) == (4 if name == "speech" else 5), "%s" % lines)  # no sweep alone of several sequences
        for line in lines:
            check(line["workload"] == name and line["T"] == length, "%s" % line)
            check((line["K"], line["C"], line["sequences"]) == shape, "%s" % line)
            check("fallbacks_per_block" in line and "repaired_chunks" in line, "%s" % line)
    box.fails("bench --workload chr11 -K 5", 2, "chr11", "only -T")
    box.fails("bench --workload yeast --score-scale 2", 2, "yeast", "only -T")
    box.fails("bench --workload genome", 2, "genome", "chr11")
    box.fails("bench --score-scale 0", 2, "--score-scale")


def test_auto_says_what_it_expects(box):
    line = box.ok("decode -v -p scores.params.json -o out.bed scores.npy").stderr
    check("device auto: cpu; expected computing time: on the cpu " in line and "on a GPU 0.25 s" in line, line)
    check("device auto" not in box.ok("decode -v -x cpu -p scores.params.json -o out.bed scores.npy").stderr, "-x cpu")


def test_unknown_command(box):
    box.fails("segment scores.npy", 2, "segment", "semicrf --help")
    box.fails("decod -p scores.params.json scores.npy", 2, "'decod'", "did you mean decode?")
    box.fails("import chromhm model_2.txt", 2, "unknown command 'chromhm'", "did you mean chromhmm?", "semicrf import --help")
    box.fails("import", 2, "a command is missing after semicrf import", "chromhmm, segway")


def test_unknown_option(box):
    box.fails("decode -p scores.params.json --fast scores.npy", 2, "--fast")
    box.fails("decode --parms scores.params.json scores.npy", 2, "--parms", "did you mean --params?", "decode --help-all")
    box.fails("train --frezee=tail --labels x.bed scores.npy", 2, "did you mean --freeze?")
    box.fails("-p scores.params.json decode scores.npy", 2, "-p must come after the command decode")
    box.fails("--versoin", 2, "did you mean --version?")
    box.fails("import chromhmm --oputput out.json model_2.txt", 2, "did you mean --output?", "semicrf import chromhmm --help-all")
    box.fails("decode -Z scores.npy", 2, "unknown option -Z; semicrf decode --help-all lists all")


def test_help_has_two_sizes(box):
    """--help of a command with many options: ten of them on one screen; --help-all: all that the parser takes."""
    for command in ("count", "decode", "posterior", "query", "eval", "report", "train", "learn", "simulate"):
        short, full = (box.ok([command, size]).stdout for size in ("--help", "--help-all"))
        options = re.findall(r"^  (-\S+)", short, re.M)
        check(len(options) == 11 and options[-1] == "--help-all", "%s: %r" % (command, options))
        check(len(short.splitlines()) <= 48, "%s --help has %d lines" % (command, len(short.splitlines())))
        more = int(re.search(r"the other (\d+) options", short).group(1))
        check(len(re.findall(r"^  -", full.split("\nOutput")[0], re.M)) == 10 + more, "%s: %d more" % (command, more))
        check("Exit codes: 0 success" in full and "\nOutput" in full, full[-500:])
        check(box.ok(["help", command]).stdout == short, "semicrf help " + command)
    check(box.ok("help").stdout == box.ok("--help").stdout, "semicrf help")
    check(box.ok("help import chromhmm").stdout == box.ok("import chromhmm --help").stdout, "two words")
    box.fails("help decod", 2, "there is no command 'decod'", "did you mean decode?")


def test_options_are_in_groups(box):
    """--help-all of every command has headings that say what its options are about, and each option below one of them; the
    manual page has the same."""
    headings, options = set(), set()
    for command in all_commands(box):
        if not command.path or command.commands:
            continue
        shown = command.help.split("\nOutput")[0].split("Positionals:")[-1]
        groups = re.findall(r"^([A-Z][^:\n]*):\n(?=  -)((?:  .*\n)+)", shown, re.M)
        sizes = {heading: len(re.findall(r"^  -", text, re.M)) for heading, text in groups}
        check("Options" not in sizes, "%s: an option without a group: %s" % (command.path, command.help))
        check(list(sizes)[-1] == "Help" and sizes["Help"] == 2, "%s: %s" % (command.path, sizes))
        check(sum(sizes.values()) == len(command.options) and max(sizes.values()) <= 20, "%s: %s" % (command.path, sizes))
        check(len(sizes) == len(groups), "%s: a heading twice: %s" % (command.path, groups))
        check(len(command.options) < 12 or len(sizes) >= 4, "%s: %s" % (command.path, sizes))
        if len(command.path) == 1:
            page = re.findall(r'^\.SS "(.*)"$', box.ok(["man", command.path[0]]).stdout.replace("\\-", "-"), re.M)
            check(page == list(sizes), "%s: the manual page has %s" % (command.path, page))
        headings |= set(sizes)
        options |= {option.names[-1] for option in command.options}
    check({"Model", "Inputs", "Regions, chromosomes and bins", "Results", "Computation"} <= headings, "%s" % headings)
    check(len(options) > 140, "%d options" % len(options))


def test_help_is_laid_out_in_columns(box):
    for command in ("decode", "train", "info", "bench"):
        text = box.ok([command, "--help-all"]).stdout
        long = [line for line in text.split("\nOutput")[0].splitlines() if len(line) > 100 and line.startswith(("  -", " " * 30))]
        check(not long, "%s --help has lines of more than 100 characters:\n%s" % (command, "\n".join(long)))
    text = " ".join(box.ok("decode --help-all").stdout.split())
    check("--params FILE parameter file (JSON, format 1) [required]" in text, "required options")
    check("--threads INT number of threads [1 to 1024; default: 1]" in text, "limits and defaults")
    check("[FILE...]" in box.ok("info --help").stdout, "files of info")


def test_missing_parameters_option(box):
    box.fails("decode scores.npy", 2)


def test_missing_input(box):
    box.fails("decode -p scores.params.json", 2)


def test_bad_option_values(box):
    for option in ("--threads x", "--threads -3", "--precision half", "--device gpu", "--max-memory 8Q", "--max-memory x",
                   "--progress sometimes", "--bin-size 0", "--bin-size x", "--infeasible maybe", "--region scores:10-5",
                   "--region scores:0-5", "--region scores:a-b"):
        box.fails("decode -p scores.params.json %s scores.npy" % option, (2,))


def test_an_empty_value_is_not_the_next_word(box):
    """CLI11 takes --name= for an option without a value."""
    for name, words in (("--exclude", "--exclude= --log-file=y.log"), ("--log-file", "--log-file= --boundaries=z")):
        box.fails("decode -p demo.params.json -o x.bed %s t0=codon_fwd0.bw" % words, 2, name + " is given, but its value is empty")


def test_bad_posterior_option_values(box):
    for option in ("--digits 99", "--digits x", "--min-posterior 2", "--min-posterior -1"):
        box.fails("posterior -p scores.params.json %s scores.npy" % option, 2)


def test_index_needs_a_bgzip_file(box):
    box.fails("decode -p scores.params.json --write-index -o out.bed scores.npy", 2)
    box.fails("decode -p scores.params.json --write-index scores.npy", 2)


def test_segments_are_no_bigwig(box):
    for option in ("-o", "--table", "--boundaries", "--review"):
        out = "" if option == "-o" else "-o out.bed "
        box.fails("decode -p scores.params.json %s%s out.bw scores.npy" % (out, option), 2, "out.bw", "not as bigWig")


def test_bin_size_must_equal_the_parameters(box):
    box.ok("decode -p scores.params.json -b 10 scores.npy")
    box.fails("decode -p scores.params.json -b 20 scores.npy", (2, 3), "20", "10")
    parameters(box, "one.json", bin_size=1)
    box.ok("decode -p one.json -b 1 scores.npy")
    box.fails("decode -p one.json -b 20 scores.npy", (2, 3), "20", "1")
    parameters(box, "none.json", bin_size=None)
    rows = box.ok("decode -p none.json -b 20 scores.npy").stdout.splitlines()
    check(rows[-1].split("\t")[2] == "6000", "%r" % rows[-1])


def test_cuda_is_refused_where_there_is_none(box):
    box.fails("decode -p scores.params.json --device cuda scores.npy", 7)
    box.fails("posterior -p scores.params.json --device cuda:0 scores.npy", 7)
    fast = box.fails("decode -p scores.params.json --device cuda scores.npy", 7)
    plain = box.fails("decode -p scores.params.json --device cuda-plain scores.npy", 7)
    check(plain.error == fast.error, "%r and %r" % (plain.error, fast.error))
    box.fails("decode -p scores.params.json --device cuda-plain:0 scores.npy", 2, "cuda-plain, reference")
    box.fails("decode -p scores.params.json --device cuda-plain --instruction-set AVX2 scores.npy", 2, "--instruction-set")


def test_two_outputs_cannot_share_a_name(box):
    box.fails("decode -p scores.params.json -o out.bed --posterior out.bed scores.npy", (2, 5), "out.bed")
    box.fails("decode -p scores.params.json -o out.bed --stats ./out.bed scores.npy", (2, 5), "out.bed")
