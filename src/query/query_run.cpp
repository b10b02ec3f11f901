#include "query/query_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "analyses/claims/claim_sweep.h"
#include "analyses/claims/local_chain.h"
#include "inputs/statements/interval_file.h"
#include "runs/prepared_run.h"
#include "windows/memory_budget.h"

namespace semicrf {

namespace {

// The claims of a run and what was found of them.
class ClaimTable {
  // bytes of a bin and label: messages, scores, sums of them
  static constexpr std::size_t kBytesPerNumber = 160;

 public:
  void read(const std::string& path, const PreparedRun& run, const std::optional<std::int64_t>& max_memory) {
    const IntervalFile file = claim_file(path);
    claims_ = read_claims(file, run.parameters().labels);
    results_.resize(claims_.size());
    for (std::size_t i = 0; i < claims_.size(); ++i) {
      file.check_place(claims_[i], run.inputs());
      check_size(path, claims_[i], run, max_memory);
      index_.add(claims_[i].chromosome, claims_[i].begin, claims_[i].end);
    }
    index_.finish();
  }

  // Those that lie in the piece as a whole, widened to bins.
  PieceClaims claims_of(const PieceIdentity& piece) const {
    PieceClaims found;
    const std::int64_t begin = piece.location.begin_base(0), end = piece.location.end_base(piece.bins);
    for (const std::size_t i : index_.starting_in(piece.location.chromosome, begin, end)) {
      const ClaimLine& claim = claims_[i];
      if (claim.end > end) continue;
      const PositionRange bins = bins_of(claim, piece.location);
      found.claims.push_back({claim.kind, claim.label, bins.begin, bins.end});
      found.numbers.push_back(i);
    }
    return found;
  }

  void take(const PieceResult& result) {
    const auto* const found = result.find<ClaimFindings>();
    if (found == nullptr) return;
    for (std::size_t i = 0; i < found->numbers.size(); ++i)
      results_[found->numbers[i]] = found->swept.results[i];
  }

  // That the claims and their results take, as measured.
  std::size_t kept_bytes() const {
    constexpr std::size_t kPerClaim = 240;
    return claims_.size() * kPerClaim;
  }

  std::int64_t unanswered() const {
    return std::ranges::count_if(results_, [](const auto& result) { return !result; });
  }

  void write(OutputFile& file, int digits, bool comment) const {
    file.write(comment ? "#" : "");
    file.write("chrom\tstart\tend\tclaim\tprobability\tlog_odds\n");
    for (std::size_t i = 0; i < claims_.size(); ++i) {
      const ClaimLine& claim = claims_[i];
      std::string line =
          fmt::format("{}\t{}\t{}\t{}\t", claim.chromosome, claim.begin, claim.end, claim.text);
      if (const std::optional<ClaimResult>& result = results_[i]) {
        line += number(std::exp(result->log_true), digits) + "\t" +
                number(result->log_true - result->log_false, digits);
      } else {
        line += ".\t.";
      }
      file.write(line + "\n");
    }
  }

 private:
  static std::string number(double value, int digits) {
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    char text[64];
    std::snprintf(text, sizeof text, "%.*g", std::max(digits, 1), value + 0.0);
    return text;
  }

  // All that a claim needs of its interval is in memory while it is computed.
  static void check_size(const std::string& path, const ClaimLine& claim, const PreparedRun& run,
                         const std::optional<std::int64_t>& max_memory) {
    const ChainModel& model = run.parameters().chain;
    const std::int64_t bins =
        (claim.end - claim.begin) / run.inputs().bin_size() + 2 + 2 * claim_reach(model);
    const std::size_t bytes =
        static_cast<std::size_t>(bins) * static_cast<std::size_t>(model.num_labels) * kBytesPerNumber;
    check_memory_limit(max_memory, kFixedMemory + bytes,
                       fmt::format("{}: the claim of line {}", path, claim.line), "",
                       "give --max-memory " + memory_option(kFixedMemory + bytes) +
                           ", or claim something of a shorter interval");
  }

  std::vector<ClaimLine> claims_;
  std::vector<std::optional<ClaimResult>> results_;
  IntervalIndex index_;  // finds claims
};

class ClaimSink : public OutputSink {
 public:
  ClaimSink(OutputFile& file, std::shared_ptr<ClaimTable> table, int digits, bool comment)
      : file_(file), table_(std::move(table)), digits_(digits), comment_(comment) {}
  void begin_piece(const BinLocation&, const PieceResult& result, bool) override { table_->take(result); }
  void finish() override { table_->write(file_, digits_, comment_); }

 private:
  OutputFile& file_;
  std::shared_ptr<ClaimTable> table_;
  int digits_;
  bool comment_;
};

RunCommand query_command(const QueryOptions& options, const std::shared_ptr<ClaimTable>& table) {
  AnalysisList analyses;
  analyses.add<ClaimProbabilities>([table](const PieceIdentity& piece) { return table->claims_of(piece); });
  return {options.run, analyses, [&options, table](const PreparedRun& run) {
            table->read(options.claims, run, options.run.max_memory);
            const int digits = options.run.digits;
            const bool comment = options.run.header_comments;
            PlannedOutput output{run.output(options.output), run.header("query", {}),
                                 options.run.engine.threads, [table, digits, comment](OutputFile& file) {
                                   return std::make_unique<ClaimSink>(file, table, digits, comment);
                                 }};
            output.kept = table->kept_bytes();
            return OutputPlan{std::move(output)};
          }};
}

// The warning about claims that no piece holds.
Warning unanswered_warning(std::int64_t count) {
  return {"claims-not-decoded",
          fmt::format("{}{} no answer (\".\"): the interval is not inside a single decoded stretch (regions, "
                      "excluded parts and missing values end a stretch)",
                      count, count == 1 ? " claim has" : " claims have")};
}

}  // namespace

void run_query(const QueryOptions& options, Progress* progress) {
  const auto table = std::make_shared<ClaimTable>();
  RunCommand command = query_command(options, table);
  command.after = [table]() -> std::vector<Warning> {
    if (table->unanswered() == 0) return {};
    return {unanswered_warning(table->unanswered())};
  };
  execute(command, progress);
}

std::string plan_query(const QueryOptions& options) {
  return describe(query_command(options, std::make_shared<ClaimTable>()));
}

namespace {

// In the order of ClaimKind.
constexpr std::array<StatementKind, 7> kKinds = {{{"segment", true},
                                                  {"boundary", false},
                                                  {"no-boundary", false},
                                                  {"label", true},
                                                  {"within", true},
                                                  {"starts", true},
                                                  {"ends", true}}};

}  // namespace

IntervalFile claim_file(const std::string& path) {
  return {path,
          {"claim",
           "claims are segment:LABEL, boundary, no-boundary, label:LABEL, within:LABEL, starts:LABEL and "
           "ends:LABEL"}};
}

std::vector<ClaimLine> read_claims(const IntervalFile& file, const std::vector<Label>& labels) {
  std::vector<ClaimLine> claims;
  for (IntervalLine& line : file.read()) {
    const Statement statement = file.take_apart(line, kKinds);
    ClaimLine claim;
    claim.kind = static_cast<ClaimKind>(statement.kind);
    if (kKinds[statement.kind].has_label) claim.label = file.find_label(line, statement.label, labels);
    static_cast<IntervalLine&>(claim) = std::move(line);
    claims.push_back(std::move(claim));
  }
  return claims;
}

}  // namespace semicrf
