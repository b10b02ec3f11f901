#include "pipeline/inputs/statements/constraint_file.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <utility>

#include "core/text/text.h"
#include "core/text/units.h"
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
  std::vector<char> forbidden(num_labels, 0);
  for (const Constraint* one : constraints)
    for (const int c : one->forbidden) forbidden[static_cast<std::size_t>(c)] = 1;
  return std::ranges::count(forbidden, 1) == static_cast<std::ptrdiff_t>(num_labels);
}

// Of constraints that together forbid all labels as few as do that.
std::vector<const Constraint*> least_contradiction(std::vector<const Constraint*> constraints,
                                                   std::size_t num_labels) {
  for (std::size_t i = constraints.size(); i-- > 0;) {
    std::vector<const Constraint*> fewer = constraints;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (forbid_all(fewer, num_labels)) constraints = std::move(fewer);
  }
  return constraints;
}

}  // namespace

ConstraintFile::ConstraintFile(const std::string& path, const std::vector<Label>& labels,
                               const InputSet& inputs)
    : file_(path, {"constraint", "constraints are label:LABEL,LABEL, not:LABEL, boundary and no-boundary"}),
      num_labels_(labels.size()),
      bin_size_(inputs.bin_size()) {
  for (IntervalLine& line : file_.read()) {
    file_.check_place(line, inputs);
    by_chromosome_[line.chromosome].push_back(lines_.size());
    lines_.push_back(parse(std::move(line), labels));
  }
  for (const Sequence& sequence : inputs.sequences()) check_sequence(sequence);
}

ConstraintFile::Line ConstraintFile::parse(IntervalLine line, const std::vector<Label>& labels) const {
  const Statement statement = file_.take_apart(line, kKinds);
  Line parsed;
  if (statement.kind == kLabelKind || statement.kind == kNotKind) {
    parsed.kind = Constraint::Kind::kForbidden;
    std::vector<char> is_listed(num_labels_, 0);
    for (const std::string& name : listed(statement.label, labels))
      is_listed[static_cast<std::size_t>(file_.find_label(line, name, labels))] = 1;
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
  const auto known = by_chromosome_.find(piece.chromosome);
  if (known == by_chromosome_.end()) return found;
  for (const std::size_t i : known->second) {
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
  std::vector<Constraint> active;
  std::vector<Constraint> all = within(location, sequence.bins);
  for (std::size_t i = 0; i < all.size(); ++i) {
    Line& line = lines_[all[i].number];
    line.bins += all[i].end - all[i].begin;
    const PositionRange whole = bins_of(line, location);
    line.longer |= line.kind == Constraint::Kind::kBoundary && whole.size() > 1;
    std::erase_if(active, [&](const Constraint& one) { return one.end <= all[i].begin; });
    active.push_back(all[i]);
    const bool last = i + 1 == all.size() || all[i + 1].begin > all[i].begin;
    if (last) refuse_contradiction(active, location);
  }
}

// Of constraints that all hold where the last of them begins.
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
  } else if (forbid_all(labels, num_labels_)) {
    guilty = least_contradiction(labels, num_labels_);
    what = "together they leave no label";
  } else {
    return;
  }
  std::vector<std::int64_t> numbers;
  numbers.reserve(guilty.size());
  for (const Constraint* one : guilty) numbers.push_back(lines_[one->number].line);
  std::ranges::sort(numbers);
  std::vector<std::string> texts;
  texts.reserve(numbers.size());
  for (const std::int64_t number : numbers) texts.push_back(std::to_string(number));
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
