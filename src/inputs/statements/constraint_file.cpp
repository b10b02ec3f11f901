#include "inputs/statements/constraint_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <numeric>
#include <queue>
#include <set>
#include <utility>

#include "core/text/text.h"
#include "io/json/json_document.h"

namespace semicrf {

namespace {

constexpr std::size_t kLabelKind = 0, kNotKind = 1, kBoundaryKind = 2;
constexpr std::array<StatementKind, 4> kKinds = {
    {{"label", true}, {"not", true}, {"boundary", false}, {"no-boundary", false}}};

// "A,B" as names: a label whose name has a comma is taken first.
std::vector<std::string> listed(const std::string& names, const std::vector<Label>& labels) {
  if (std::ranges::find(labels, names, &Label::name) != labels.end()) return {names};
  std::vector<std::string> all;
  for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    end = names.find(',', begin);
    all.push_back(names.substr(begin, end - begin));
  }
  return all;
}

// Whether the constraints together forbid all labels.
bool forbid_all(const std::vector<const Constraint*>& constraints, std::size_t num_labels) {
  std::set<int> forbidden;
  for (const Constraint* one : constraints) forbidden.insert(one->forbidden.begin(), one->forbidden.end());
  return forbidden.size() == num_labels;
}

// As few constraints as together forbid all labels. Those that forbid nothing which an
// earlier one does not forbid are never among them.
std::vector<const Constraint*> least_contradiction(const std::vector<const Constraint*>& all,
                                                   std::size_t num_labels) {
  std::set<int> forbidden;
  std::vector<const Constraint*> constraints;
  for (const Constraint* one : all) {
    const std::size_t before = forbidden.size();
    forbidden.insert(one->forbidden.begin(), one->forbidden.end());
    if (forbidden.size() > before) constraints.push_back(one);
  }
  for (std::ptrdiff_t i = std::ssize(constraints); i-- > 0;) {
    std::vector<const Constraint*> fewer = constraints;
    fewer.erase(fewer.begin() + i);
    if (forbid_all(fewer, num_labels)) constraints = std::move(fewer);
  }
  return constraints;
}

// The constraints that hold at a bin, for bins from left to right.
class Holding {
 public:
  explicit Holding(std::size_t num_labels) : forbidding_(num_labels, 0) {}

  // Constraints come in the order of their begins; those that end before this one begins hold no more.
  void add(const Constraint& constraint) {
    for (; !by_end_.empty() && by_end_.top().first <= constraint.begin; by_end_.pop())
      count(*by_end_.top().second, -1);
    count(constraint, 1);
    by_end_.emplace(constraint.end, &constraint);
  }
  bool contradict() const {
    return (boundaries_ > 0 && none_ > 0) ||
           std::ranges::all_of(forbidding_, [](std::int64_t constraints) { return constraints > 0; });
  }

 private:
  using End = std::pair<std::int64_t, const Constraint*>;

  void count(const Constraint& constraint, std::int64_t by) {
    if (constraint.kind == Constraint::Kind::kBoundary) boundaries_ += by;
    if (constraint.kind == Constraint::Kind::kNoBoundary) none_ += by;
    for (const int c : constraint.forbidden) forbidding_[c] += by;
  }

  std::int64_t boundaries_ = 0, none_ = 0;
  std::vector<std::int64_t> forbidding_;  // constraints, by label
  std::priority_queue<End, std::vector<End>, std::greater<>> by_end_;
};

}  // namespace

ConstraintFile::ConstraintFile(const std::string& path, const std::vector<Label>& labels,
                               const InputSet& inputs)
    : file_(path, {"constraint", "constraints are label:LABEL,LABEL, not:LABEL, boundary and no-boundary"}),
      num_labels_(labels.size()),
      bin_size_(inputs.bin_size()) {
  for (IntervalLine& line : file_.read()) {
    file_.check_place(line, inputs);
    index_.add(line.chromosome, line.begin, line.end);
    lines_.push_back(parse(std::move(line), labels));
  }
  index_.finish();
  for (const Sequence& sequence : inputs.sequences()) check_sequence(sequence);
}

ConstraintFile::Line ConstraintFile::parse(IntervalLine line, const std::vector<Label>& labels) const {
  const Statement statement = file_.take_apart(line, kKinds);
  Line parsed;
  if (statement.kind == kLabelKind || statement.kind == kNotKind) {
    parsed.kind = Constraint::Kind::kForbidden;
    std::vector<char> is_listed(num_labels_, 0);
    for (const std::string& name : listed(statement.label, labels))
      is_listed[file_.find_label(line, name, labels)] = 1;
    const char unwanted = statement.kind == kNotKind ? 1 : 0;
    for (std::size_t c = 0; c < num_labels_; ++c)
      if (is_listed[c] == unwanted) parsed.forbidden.push_back(static_cast<int>(c));
    if (parsed.forbidden.size() == num_labels_)
      throw file_.refusal(line, "the constraint " + in_quotes(line.text) + " leaves no label",
                          "name fewer labels");
  } else {
    parsed.kind =
        statement.kind == kBoundaryKind ? Constraint::Kind::kBoundary : Constraint::Kind::kNoBoundary;
  }
  static_cast<IntervalLine&>(parsed) = std::move(line);
  return parsed;
}

// With boundaries at the first bin.
std::vector<Constraint> ConstraintFile::within(const BinLocation& piece, std::int64_t bins) const {
  std::vector<Constraint> found;
  for (const std::size_t i :
       index_.overlapping(piece.chromosome, piece.begin_base(0), piece.begin_base(bins))) {
    const Line& line = lines_[i];
    PositionRange range = bins_of(line, piece);
    if (line.kind == Constraint::Kind::kBoundary) range.end = range.begin + 1;
    range = {std::max<std::int64_t>(0, range.begin), std::min(bins, range.end)};
    if (range.begin < range.end) found.push_back({line.kind, range.begin, range.end, line.forbidden, i});
  }
  std::ranges::stable_sort(found, {}, &Constraint::begin);
  return found;
}

// Goes through the constraints of a sequence from the left, with those that hold where each begins.
void ConstraintFile::check_sequence(const Sequence& sequence) {
  const BinLocation location{sequence.chromosome, bin_size_, sequence.origin,
                             sequence.origin + sequence.length, 0};
  Holding holding(num_labels_);
  const std::vector<Constraint> all = within(location, sequence.bins);
  for (std::size_t i = 0; i < all.size(); ++i) {
    Line& line = lines_[all[i].number];
    line.bins += all[i].end - all[i].begin;
    const PositionRange whole = bins_of(line, location);
    line.longer |= line.kind == Constraint::Kind::kBoundary && whole.size() > 1;
    holding.add(all[i]);
    const bool last = i + 1 == all.size() || all[i + 1].begin > all[i].begin;
    if (!last || !holding.contradict()) continue;
    std::vector<Constraint> active;
    std::copy_if(all.data(), all.data() + i + 1, std::back_inserter(active),
                 [&](const Constraint& one) { return one.end > all[i].begin; });
    refuse_contradiction(active, location);
  }
}

// Refuses constraints that all hold where the last of them begins, and contradict each other there.
void ConstraintFile::refuse_contradiction(const std::vector<Constraint>& active,
                                          const BinLocation& location) const {
  std::vector<const Constraint*> labels, boundaries, none;
  for (const Constraint& one : active)
    (one.kind == Constraint::Kind::kForbidden  ? labels
     : one.kind == Constraint::Kind::kBoundary ? boundaries
                                               : none)
        .push_back(&one);
  std::vector<const Constraint*> guilty;
  std::string what = "one wants a boundary, the other none";
  if (!boundaries.empty() && !none.empty()) {
    guilty = {boundaries.front(), none.front()};
  } else {
    guilty = least_contradiction(labels, num_labels_);
    what = "together they leave no label";
  }
  std::vector<std::int64_t> numbers;
  numbers.reserve(guilty.size());
  for (const Constraint* one : guilty) numbers.push_back(lines_[one->number].line);
  std::ranges::sort(numbers);
  std::vector<std::string> texts;
  texts.reserve(numbers.size());
  for (const std::int64_t number : numbers) texts.push_back(fmt::to_string(number));
  const std::string last = texts.back();
  texts.pop_back();
  const std::int64_t bin = active.back().begin;
  throw InputError({file_.path(), "lines " + joined(texts, ", ") + " and " + last,
                    "the constraints contradict each other at " + location.place(bin, bin + 1) + ": " + what,
                    "take one of them out"});
}

std::vector<Constraint> ConstraintFile::of(const BinLocation& piece, std::int64_t bins) {
  std::vector<Constraint> found = within(piece, bins);
  {
    const std::lock_guard lock(mutex_);
    for (const Constraint& one : found) lines_[one.number].decoded += one.end - one.begin;
  }
  std::int64_t boundary = 0;  // the latest; at position 0 there is one anyway
  std::erase_if(found, [&](const Constraint& one) {
    return one.kind == Constraint::Kind::kBoundary && std::exchange(boundary, one.begin) == one.begin;
  });
  for (const Constraint& one : found)
    if (one.kind == Constraint::Kind::kNoBoundary && one.begin == 0)
      throw file_.refusal(lines_[one.number],
                          "the constraint " + in_quotes("no-boundary") + " holds " + piece.place(0, 1) +
                              ", the first bin of a stretch that is decoded, which always starts a segment",
                          "leave this bin out of the interval");
  return found;
}

void ConstraintFile::refuse(const Constraint& constraint, const BinLocation& piece) const {
  const Line& line = lines_[constraint.number];
  throw file_.refusal(line,
                      "the constraint " + in_quotes(line.text) + " at " +
                          piece.place(constraint.begin, constraint.end) +
                          " is impossible: with it and those before it on the sequence no segmentation has a "
                          "finite score",
                      "take it out, or one of those before it");
}

std::vector<Warning> ConstraintFile::warnings() const {
  const std::int64_t longer = std::ranges::count_if(lines_, &Line::longer);
  const std::int64_t cut =
      std::ranges::count_if(lines_, [](const Line& line) { return line.decoded < line.bins; });
  std::vector<Warning> found;
  if (longer > 0)
    found.push_back({"boundary-first-bin",
                     plural(longer, "constraint") +
                         " \"boundary\" with an interval of several bins: a segment starts at the first of "
                         "them; the others are left free"});
  if (cut > 0)
    found.push_back({"constraints-not-decoded",
                     plural(cut, "constraint") +
                         " with bins that are not decoded, because of regions, excluded parts or missing "
                         "values; there they say nothing"});
  return found;
}

}  // namespace semicrf
