// Places of the genome: tracks, segments and posteriors, one below the other.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/counts.h"
#include "core/text/text.h"
#include "draw/scale.h"
#include "draw/svg.h"
#include "eval/metrics/stretches.h"
#include "report/sections/charts.h"
#include "report/sections/sections.h"

namespace semicrf {
namespace {

constexpr double kWidth = 900, kRight = 10, kMostName = 116;
constexpr double kTrack = 24, kSegments = 20, kPosterior = 40, kAnnotation = 9, kGap = 6;

// A height to a tenth of a pixel, which keeps paths short.
double tenth(double y) { return std::round(y * 10) / 10; }

// The range of a track over all loci, which pictures share: 0 is in it, and of the columns on either side the
// hundredth part that is farthest from 0 is not, so that a few extremes do not make the rest flat.
struct Range {
  double low = 0, high = 0;
};

double without_extremes(std::vector<double>& sizes) {
  if (sizes.empty()) return 0;
  std::ranges::sort(sizes);
  return sizes[static_cast<std::size_t>(0.99 * static_cast<double>(sizes.size() - 1))];
}

std::vector<Range> track_ranges(const std::vector<Locus>& loci, std::size_t tracks) {
  std::vector<Range> ranges(tracks);
  for (std::size_t f = 0; f < tracks; ++f) {
    std::vector<double> above, below;  // distances from 0
    for (const Locus& locus : loci)
      for (const float value : locus.tracks[f]) {
        if (value > 0) above.push_back(value);
        if (value < 0) below.push_back(-value);
      }
    ranges[f].high = without_extremes(above);
    ranges[f].low = -without_extremes(below);
    if (!(ranges[f].high > ranges[f].low)) ranges[f].high = 1;
  }
  return ranges;
}

class LocusPicture {
 public:
  LocusPicture(const ReportBasis& basis, const Locus& locus, const LociInputs& inputs,
               const std::vector<Range>& ranges)
      : basis_(basis),
        locus_(locus),
        inputs_(inputs),
        ranges_(ranges),
        part_(basis.parts[locus.part]),
        drawn_(drawn_tracks(basis, locus.tracks.size())) {
    double names = text_width("boundary");
    for (const std::size_t f : drawn_) names = std::max(names, text_width(basis.tracks[f]));
    for (const Annotation& annotation : inputs.annotations)
      names = std::max(names, text_width(annotation.name));
    left_ = std::min(names, kMostName) + 46;
    x_ = {static_cast<double>(locus.bins.begin), static_cast<double>(locus.bins.end), left_, kWidth - kRight,
          false};
  }

  Drawing drawing(const std::string& title) {
    ruler();
    for (const std::size_t f : drawn_) track(f);
    y_ += 4;
    segments("segments", part_.segments, [&](int label) { return basis_.label(label); });
    if (!inputs_.truth.empty())
      segments("truth", inputs_.truth[locus_.part], [&](int label) { return inputs_.truth_labels[label]; });
    for (const Annotation& annotation : inputs_.annotations) intervals(annotation);
    if (!locus_.boundary.empty()) boundary();
    if (!locus_.labels.empty()) labels();
    return {kWidth, y_ + 2, title, "Tracks, segments and posteriors from left to right", canvas_.body()};
  }

 private:
  // Pixels of the left edge of a column; of the right edge of the last one.
  double edge(std::size_t column) const {
    return x_.at(static_cast<double>(locus_.bins.begin + static_cast<std::int64_t>(column) * locus_.group));
  }
  double x_of_base(std::int64_t base) const { return x_.at(ratio(base - part_.origin, basis_.bin_size())); }

  void name(const std::string& text, double height) {
    canvas_.text(left_ - 44, y_ + height / 2 + 4, Canvas::Anchor::kEnd, "", fitted(text, left_ - 46));
  }

  void ruler() {
    const auto low = static_cast<double>(part_.base_of(locus_.bins.begin, basis_.bin_size()));
    const auto high = static_cast<double>(part_.base_of(locus_.bins.end, basis_.bin_size()));
    const Scale bases{low, high, x_.from, x_.to, false};
    std::vector<Tick> ticks;
    for (const double tick : nice_ticks(low, high, 7))
      ticks.push_back({tick, count_text(std::llround(tick))});
    canvas_.line(x_.from, 20, x_.to, 20, "axis");
    for (const Tick& tick : ticks_with_room(ticks, bases, left_ - 40, kWidth)) {
      canvas_.line(bases.at(tick.at), 16, bases.at(tick.at), 20, "axis");
      canvas_.text(bases.at(tick.at), 11, Canvas::Anchor::kMiddle, "tick", tick.text);
    }
    y_ = 28;
  }

  // Steps of columns as an area above `base` (or below it); runs of equal height are one step.
  std::string area(const std::vector<float>& values, const Scale& up, double base) const {
    SvgPath path;
    double level = base;
    const auto close = [&](std::size_t column) {
      if (level == base) return;
      path.across(edge(column));
      path.upright(base);
      path.close();
      level = base;
    };
    for (std::size_t i = 0; i < values.size(); ++i) {
      double y = std::isnan(values[i]) ? base : tenth(up.at(values[i]));
      if (std::fabs(y - base) < 0.1) {
        close(i);
        continue;
      }
      if (level == base) {
        path.move(edge(i), base);
      } else if (y != level) {
        path.across(edge(i));
      }
      if (y != level) path.upright(y);
      level = y;
    }
    close(values.size());
    return path.text();
  }

  void track(std::size_t f) {
    const Range& range = ranges_[f];
    const Scale up{range.low, range.high, y_ + kTrack, y_, false};
    const double base = up.at(0);
    name(basis_.tracks[f], kTrack);
    canvas_.text(left_ - 6, y_ + 9, Canvas::Anchor::kEnd, "tick", short_number(range.high));
    if (range.low < 0)
      canvas_.text(left_ - 6, y_ + kTrack, Canvas::Anchor::kEnd, "tick", short_number(range.low));
    canvas_.line(x_.from, base, x_.to, base, "grid");
    const std::string path = area(locus_.tracks[f], up, base);
    if (!path.empty()) canvas_.path(path, "class=\"track\"", basis_.tracks[f]);
    y_ += kTrack + kGap;
  }

  template <class Name>
  void segments(const std::string& title, const std::vector<Segment>& all, Name name_of) {
    name(title, kSegments);
    for (const Segment& segment : segments_meeting(all, locus_.bins.begin, locus_.bins.end)) {
      const double from = x_.at(static_cast<double>(segment.begin)),
                   to = x_.at(static_cast<double>(segment.end));
      const std::string label = name_of(segment.label);
      const bool known = static_cast<std::size_t>(segment.label) < basis_.num_labels();
      const Rgb color = known ? basis_.colors[segment.label] : Rgb{150, 150, 150};
      canvas_.rect(from, y_, std::max(0.3, to - from), kSegments,
                   (to - from > 3 ? "class=\"mark\" fill=\"" : "fill=\"") + hex_color(color) + "\"",
                   label + ", " +
                       place_text(part_.chromosome, part_.base_of(segment.begin, basis_.bin_size()),
                                  part_.base_of(segment.end, basis_.bin_size())));
      if (text_width(label, 11) + 6 <= to - from)
        canvas_.text((from + to) / 2, y_ + kSegments / 2 + 4, Canvas::Anchor::kMiddle, "small", label,
                     std::string("style=\"fill:") + ink_on(color) + "\"");
    }
    y_ += kSegments + kGap;
  }

  void intervals(const Annotation& annotation) {
    name(annotation.name, kAnnotation);
    const auto found = annotation.chromosomes.find(part_.chromosome);
    const std::int64_t begin = part_.base_of(locus_.bins.begin, basis_.bin_size());
    const std::int64_t end = part_.base_of(locus_.bins.end, basis_.bin_size());
    canvas_.line(x_.from, y_ + kAnnotation / 2, x_.to, y_ + kAnnotation / 2, "grid");
    if (found != annotation.chromosomes.end())
      for (const AnnotatedInterval& interval : found->second) {
        if (interval.end <= begin || interval.begin >= end) continue;
        const double from = x_of_base(interval.begin);
        canvas_.rect(from, y_, std::max(1.5, x_of_base(interval.end) - from), kAnnotation, "class=\"track\"",
                     annotation.name + ", " + place_text(part_.chromosome, interval.begin, interval.end));
      }
    y_ += kAnnotation + kGap + 3;
  }

  void boundary() {
    const Scale up{0, 1, y_ + kPosterior, y_, false};
    name("boundary", kPosterior);
    for (const double tick : {0.0, 1.0})
      canvas_.text(left_ - 6, up.at(tick) + (tick > 0 ? 9 : 0), Canvas::Anchor::kEnd, "tick",
                   short_number(tick));
    canvas_.line(x_.from, y_, x_.to, y_, "grid");
    canvas_.line(x_.from, up.at(0), x_.to, up.at(0), "axis");
    const std::string path = area(locus_.boundary, up, up.at(0));
    if (!path.empty()) canvas_.path(path, "class=\"more\"", "P(a segment starts)");
    y_ += kPosterior + kGap + 4;
  }

  // The probabilities of all labels, on top of each other.
  void labels() {
    const Scale up{0, 1, y_ + kPosterior, y_, false};
    name("labels", kPosterior);
    for (const double tick : {0.0, 1.0})
      canvas_.text(left_ - 6, up.at(tick) + (tick > 0 ? 9 : 0), Canvas::Anchor::kEnd, "tick",
                   short_number(tick));
    std::vector<double> below(locus_.columns());
    for (std::size_t c = 0; c < locus_.labels.size(); ++c) {
      const std::vector<float>& values = locus_.labels[c];
      std::string path;
      for (std::size_t i = 0; i < values.size();) {
        if (!(values[i] > 0.005F)) {
          ++i;
          continue;
        }
        std::size_t end = i;
        while (end < values.size() && values[end] > 0.005F) ++end;
        path += ribbon(values, below, i, end, up);
        i = end;
      }
      for (std::size_t i = 0; i < values.size(); ++i)
        if (values[i] > 0) below[i] += values[i];
      if (!path.empty())
        canvas_.path(path, "fill=\"" + hex_color(basis_.colors[c]) + "\"", "P(" + basis_.label(c) + ")");
    }
    canvas_.line(x_.from, up.at(0), x_.to, up.at(0), "axis");
    y_ += kPosterior + kGap;
  }

  // From `below` to `below` + values, of columns [begin, end).
  std::string ribbon(const std::vector<float>& values, const std::vector<double>& below, std::size_t begin,
                     std::size_t end, const Scale& up) const {
    const auto upper = [&](std::size_t i) { return tenth(up.at(below[i] + values[i])); };
    const auto lower = [&](std::size_t i) { return tenth(up.at(below[i])); };
    SvgPath path;
    path.move(edge(begin), lower(begin));
    path.upright(upper(begin));
    for (std::size_t i = begin + 1; i < end; ++i) {
      if (upper(i) == upper(i - 1)) continue;
      path.across(edge(i));
      path.upright(upper(i));
    }
    path.across(edge(end));
    path.upright(lower(end - 1));
    for (std::size_t i = end - 1; i-- > begin;) {
      if (lower(i) == lower(i + 1)) continue;
      path.across(edge(i + 1));
      path.upright(lower(i));
    }
    path.close();
    return path.text();
  }

  const ReportBasis& basis_;
  const Locus& locus_;
  const LociInputs& inputs_;
  const std::vector<Range>& ranges_;
  const Part& part_;
  std::vector<std::size_t> drawn_;  // tracks
  double left_ = 0, y_ = 0;
  Scale x_;
  Canvas canvas_;
};

// The label of the most bins of a column; nothing where no bin has one.
std::string label_at(const ReportBasis& basis, const std::vector<Segment>& segments, std::int64_t begin,
                     std::int64_t end) {
  std::vector<std::int64_t> bins(basis.num_labels());
  for (const Segment& segment : segments_meeting(segments, begin, end))
    bins[segment.label] += std::min(end, segment.end) - std::max(begin, segment.begin);
  const auto most = std::ranges::max_element(bins);
  return *most == 0 ? "." : basis.label(most - bins.begin());
}

Table locus_table(const ReportBasis& basis, const Locus& locus) {
  Table table;
  table.names = {"chrom", "start", "end", "label"};
  for (const std::string& track : basis.tracks) table.names.push_back(text_cell("track:" + track).value);
  if (!locus.boundary.empty()) table.names.emplace_back("p_boundary");
  if (!locus.labels.empty())
    for (std::size_t c = 0; c < basis.num_labels(); ++c)
      table.names.push_back(text_cell("p:" + basis.label(c)).value);
  const Part& part = basis.parts[locus.part];
  for (std::size_t i = 0; i < locus.columns(); ++i) {
    const std::int64_t begin = locus.bins.begin + i * locus.group;
    const std::int64_t end = std::min(locus.bins.end, begin + locus.group);
    std::vector<Cell>& row = table.rows.emplace_back();
    row = {text_cell(part.chromosome), text_cell(fmt::format("{}", part.base_of(begin, basis.bin_size()))),
           text_cell(fmt::format("{}", part.base_of(end, basis.bin_size()))),
           text_cell(label_at(basis, part.segments, begin, end))};
    const auto add = [&](const std::vector<float>& values) { row.push_back(number_cell(values[i])); };
    for (const std::vector<float>& values : locus.tracks) add(values);
    if (!locus.boundary.empty()) add(locus.boundary);
    for (const std::vector<float>& values : locus.labels) add(values);
  }
  return table;
}

std::string locus_reading(const ReportBasis& basis, const Locus& locus, bool is_named) {
  const std::int64_t bases = basis.parts[locus.part].base_of(locus.bins.end, basis.bin_size()) -
                             basis.parts[locus.part].base_of(locus.bins.begin, basis.bin_size());
  std::string text = bases_text(bases) + (is_named ? "" : ". Chosen for: " + locus.why);
  if (locus.group > 1) text += fmt::format(". A column is {} bins", locus.group);
  return text + ".";
}

}  // namespace

Section loci_section(const ReportBasis& basis, const std::vector<Locus>& loci, const LociInputs& inputs) {
  Section section{"loci", "Loci", {}};
  std::string intro =
      inputs.are_named
          ? "The regions that were named."
          : std::string("Chosen") +
                (inputs.in_regions ? ", in the regions that were named, which are too long for a picture,"
                                   : "") +
                " by rules that depend on the files alone: two windows whose shares of labels are most "
                "like those of the whole, those with the least certain boundaries, the one with most "
                "segments, "
                "with a truth the one with most bases that differ from it, the longest segment, and the "
                "longest "
                "one of the rarest label; -r and -L show others.";
  intro +=
      " Each track has one scale in all pictures, which leaves out the most extreme hundredth; where several "
      "bins share a column, tracks and label "
      "probabilities are their mean, the boundary probability is the largest.";
  if (!inputs.truth.empty()) intro += " Grey in the row of the truth: labels that the model does not have.";
  if (basis.inputs) intro += undrawn_tracks(basis, basis.tracks.size());
  section.add(Paragraph{intro});
  if (!basis.inputs)
    section.add(Paragraph{"Tracks are shown where they are given behind the options, as for decode."});
  const std::vector<Range> ranges = track_ranges(loci, basis.tracks.size());
  for (std::size_t i = 0; i < loci.size(); ++i) {
    const Locus& locus = loci[i];
    const Part& part = basis.parts[locus.part];
    Figure figure;
    figure.name = fmt::format("locus-{}", i + 1);
    figure.title = place_text(part.chromosome, part.base_of(locus.bins.begin, basis.bin_size()),
                              part.base_of(locus.bins.end, basis.bin_size()));
    figure.reading = locus_reading(basis, locus, inputs.are_named);
    figure.table = locus_table(basis, locus);
    figure.panels = {LocusPicture(basis, locus, inputs, ranges).drawing(figure.title)};
    section.add(std::move(figure));
  }
  return section;
}

}  // namespace semicrf
