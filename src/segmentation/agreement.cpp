#include "segmentation/agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "core/error.h"
#include "core/text/names.h"
#include "core/text/text.h"
#include "eval/metrics/evaluation.h"
#include "io/segments/segment_reader.h"

namespace semicrf {
namespace {

std::string share_text(double part, double whole) {
  return whole > 0 ? formatted("%.6g", part / whole) : ".";
}

std::string bases_text(double bases) { return formatted("%.0f", bases); }

void check_common_label(const std::vector<Sample>& samples, const JointLabels& labels, std::size_t a,
                        std::size_t b) {
  for (const std::uint32_t label : labels.of_sample[a])
    if (std::ranges::find(labels.of_sample[b], label) != labels.of_sample[b].end()) return;
  const auto names = [&](std::size_t s) { return few_of(names_of(samples[s].segmentation.labels), 10); };
  throw InputError({samples[b].segmentation.path, "",
                    "has no label in common with " + samples[a].segmentation.path + ": it has " + names(b) +
                        ", the other " + names(a),
                    "compare segmentations with the same labels; eval --match pairs labels of other names"});
}

// Walks along the segments of one chromosome in all samples.
class JointWalk {
 public:
  JointWalk(std::vector<const SegmentedChromosome*> chromosomes, const JointLabels& labels)
      : chromosomes_(std::move(chromosomes)), labels_(labels), at_(chromosomes_.size()) {
    stretch_.chromosome = chromosomes_.front()->name;
    stretch_.labels.resize(chromosomes_.size());
  }

  template <class Visit>
  void run(Visit visit) {
    while (next()) visit(stretch_);
  }

 private:
  const LabelledSegment& segment(std::size_t sample) const {
    return chromosomes_[sample]->segments[at_[sample]];
  }

  bool next() {
    while (true) {
      std::int64_t begin = stretch_.end, end = std::numeric_limits<std::int64_t>::max();
      for (std::size_t s = 0; s < at_.size(); ++s) {
        while (at_[s] < chromosomes_[s]->segments.size() && segment(s).end <= stretch_.end) ++at_[s];
        if (at_[s] == chromosomes_[s]->segments.size()) return false;
        begin = std::max(begin, segment(s).begin);
        end = std::min(end, segment(s).end);
      }
      if (begin >= end) {  // some sample has a gap here: go on where it ends
        stretch_.end = end;
        continue;
      }
      stretch_.begin = begin;
      stretch_.end = end;
      for (std::size_t s = 0; s < at_.size(); ++s)
        stretch_.labels[s] = labels_.of_sample[s][segment(s).label];
      return true;
    }
  }

  std::vector<const SegmentedChromosome*> chromosomes_;
  const JointLabels& labels_;
  std::vector<std::size_t> at_;  // by sample, its segment
  JointStretch stretch_;
};

std::vector<const SegmentationFile*> segmentations_of(const std::vector<Sample>& samples) {
  std::vector<const SegmentationFile*> segmentations;
  segmentations.reserve(samples.size());
  for (const Sample& sample : samples) segmentations.push_back(&sample.segmentation);
  return segmentations;
}

bool all_equal(const std::vector<std::uint32_t>& labels) {
  return std::ranges::all_of(labels, [&](std::uint32_t label) { return label == labels.front(); });
}

// The two columns that name the samples of a pair.
std::string pair_names(const std::vector<Sample>& samples, const PairAgreement& pair) {
  return escape_control(samples[pair.a].name) + "\t" + escape_control(samples[pair.b].name);
}

// "." where the two have no base in common.
std::string index_text(const std::optional<double>& index) { return index ? formatted("%.6g", *index) : "."; }

}  // namespace

std::vector<Sample> read_samples(const std::vector<std::string>& arguments) {
  std::vector<Sample> samples;
  std::set<std::string> names;
  for (const std::string& argument : arguments) {
    std::string path = argument;
    const std::string name = take_file_name(path);
    if (!names.insert(name).second)
      throw UsageError("two samples are named '" + name + "'", "name them: NAME=PATH");
    samples.push_back({name, read_segmentation(path)});
  }
  return samples;
}

JointLabels join_labels(const std::vector<Sample>& samples) {
  std::set<std::string> all;
  for (const Sample& sample : samples)
    for (const Label& label : sample.segmentation.labels) all.insert(label.name);
  JointLabels labels{{all.begin(), all.end()}, {}};
  std::ranges::sort(labels.names, natural_less);
  const NameIndex index = NameIndex::of(labels.names);
  for (const Sample& sample : samples) {
    std::vector<std::uint32_t>& places = labels.of_sample.emplace_back();
    for (const Label& label : sample.segmentation.labels)
      places.push_back(static_cast<std::uint32_t>(*index.find(label.name)));
  }
  for (std::size_t b = 1; b < samples.size(); ++b) check_common_label(samples, labels, 0, b);
  return labels;
}

void require_one_genome(const std::vector<Sample>& samples) {
  struct Known {
    std::int64_t length = 0;
    std::string path;
  };
  const std::string advice = "compare segmentations of one genome";
  std::map<std::string, Known> lengths;
  for (const Sample& sample : samples)
    for (const auto& [name, length] : sample.segmentation.lengths) {
      const auto [known, is_new] = lengths.try_emplace(name, Known{length, sample.segmentation.path});
      if (!is_new && known->second.length != length)
        throw InputError(
            {sample.segmentation.path, "",
             fmt::format("{} has {} bases, in {} {}", name, length, known->second.path, known->second.length),
             advice});
    }
  for (const Sample& sample : samples)
    for (const SegmentedChromosome& chromosome : sample.segmentation.chromosomes) {
      const auto known = lengths.find(chromosome.name);
      const LabelledSegment& last = chromosome.segments.back();
      if (known != lengths.end() && last.end > known->second.length)
        throw InputError({sample.segmentation.path, sample.segmentation.place_of(chromosome, last),
                          fmt::format("the segment ends at {}, and in {} the chromosome has {} bases",
                                      last.end, known->second.path, known->second.length),
                          advice});
    }
}

std::vector<std::string> partial_labels(const std::vector<Sample>& samples, const JointLabels& labels) {
  std::vector<std::string> partial;
  for (std::size_t c = 0; c < labels.names.size(); ++c) {
    std::vector<std::string> without;
    for (std::size_t s = 0; s < samples.size(); ++s)
      if (std::ranges::find(labels.of_sample[s], c) == labels.of_sample[s].end())
        without.push_back(samples[s].name);
    if (!without.empty()) partial.push_back(labels.names[c] + " (not in " + joined(without, ", ") + ")");
  }
  return partial;
}

std::vector<std::string> partial_chromosomes(const std::vector<Sample>& samples) {
  NameIndex seen;
  std::vector<std::string> partial;
  for (const Sample& sample : samples)
    for (const SegmentedChromosome& chromosome : sample.segmentation.chromosomes) {
      if (!seen.add(chromosome.name).second) continue;
      std::vector<std::string> without;
      for (const Sample& other : samples)
        if (other.segmentation.find(chromosome.name) == nullptr) without.push_back(other.name);
      if (!without.empty()) partial.push_back(chromosome.name + " (not in " + few_of(without, 5) + ")");
    }
  return partial;
}

void visit_stretches(const std::vector<const SegmentationFile*>& samples, const JointLabels& labels,
                     const std::function<void(const JointStretch&)>& visit) {
  bool any = false;
  for (const SegmentedChromosome& first : samples.front()->chromosomes) {
    std::vector<const SegmentedChromosome*> chromosomes{&first};
    for (std::size_t s = 1; s < samples.size(); ++s) chromosomes.push_back(samples[s]->find(first.name));
    if (std::ranges::find(chromosomes, nullptr) != chromosomes.end()) continue;
    JointWalk(std::move(chromosomes), labels).run([&](const JointStretch& stretch) {
      any = true;
      visit(stretch);
    });
  }
  if (!any)
    throw InputError({samples.back()->path, "", "has no base in common with all the others",
                      "compare segmentations of one genome; chromosome names must match exactly"});
}

double PairAgreement::common() const {
  double sum = 0;
  for (const auto& [labels, one] : bases) sum += one;
  return sum;
}

double PairAgreement::agreeing() const {
  double sum = 0;
  for (const auto& [labels, one] : bases)
    if (labels.first == labels.second) sum += one;
  return sum;
}

std::optional<double> PairAgreement::adjusted_rand_index() const {
  LabelOverlaps overlaps;
  for (const auto& [labels, one] : bases)
    overlaps[{static_cast<int>(labels.first), static_cast<int>(labels.second)}] =
        static_cast<std::int64_t>(one);
  return semicrf::adjusted_rand_index(overlaps);
}

Agreement compare_samples(const std::vector<Sample>& samples) {
  Agreement agreement;
  agreement.labels = join_labels(samples);
  for (std::size_t a = 0; a < samples.size(); ++a)
    for (std::size_t b = a + 1; b < samples.size(); ++b) agreement.pairs.push_back({a, b, {}});
  // Pairs by themselves: what a third sample lacks does not matter to them.
  for (PairAgreement& pair : agreement.pairs) {
    const std::vector<const SegmentationFile*> two{&samples[pair.a].segmentation,
                                                   &samples[pair.b].segmentation};
    const JointLabels of_two{agreement.labels.names,
                             {agreement.labels.of_sample[pair.a], agreement.labels.of_sample[pair.b]}};
    visit_stretches(two, of_two, [&](const JointStretch& stretch) {
      pair.bases[{stretch.labels[0], stretch.labels[1]}] += static_cast<double>(stretch.size());
    });
  }
  std::vector<JointStretch>& differences = agreement.differences;
  visit_stretches(segmentations_of(samples), agreement.labels, [&](const JointStretch& stretch) {
    if (all_equal(stretch.labels)) return;
    JointStretch* const last = differences.empty() ? nullptr : &differences.back();
    if (last != nullptr && last->chromosome == stretch.chromosome && last->end == stretch.begin &&
        last->labels == stretch.labels) {
      last->end = stretch.end;
    } else {
      differences.push_back(stretch);
    }
  });
  std::ranges::stable_sort(differences, std::greater<>(), &JointStretch::size);
  return agreement;
}

std::string pairs_text(const std::vector<Sample>& samples, const Agreement& agreement) {
  std::string text = "a\tb\tcommon_bases\tagreeing_bases\tagreement\tadjusted_rand_index\n";
  for (const PairAgreement& pair : agreement.pairs)
    text += pair_names(samples, pair) + "\t" + bases_text(pair.common()) + "\t" +
            bases_text(pair.agreeing()) + "\t" + share_text(pair.agreeing(), pair.common()) + "\t" +
            index_text(pair.adjusted_rand_index()) + "\n";
  return text;
}

std::string jaccard_text(const std::vector<Sample>& samples, const Agreement& agreement) {
  std::string text = "a\tb\tlabel\ta_bases\tb_bases\tboth\teither\tjaccard\n";
  const std::size_t labels = agreement.labels.names.size();
  struct Bases {
    double in_a = 0, in_b = 0, in_both = 0;
  };
  for (const PairAgreement& pair : agreement.pairs) {
    std::vector<Bases> of_label(labels);
    for (const auto& [both, bases] : pair.bases) {
      of_label[both.first].in_a += bases;
      of_label[both.second].in_b += bases;
      if (both.first == both.second) of_label[both.first].in_both += bases;
    }
    for (std::size_t c = 0; c < labels; ++c) {
      const auto& [in_a, in_b, in_both] = of_label[c];
      const double either = in_a + in_b - in_both;
      text += pair_names(samples, pair) + "\t" + escape_control(agreement.labels.names[c]) + "\t" +
              bases_text(in_a) + "\t" + bases_text(in_b) + "\t" + bases_text(in_both) + "\t" +
              bases_text(either) + "\t" + share_text(in_both, either) + "\n";
    }
  }
  return text;
}

std::string switches_text(const std::vector<Sample>& samples, const Agreement& agreement) {
  std::string text = "a\tb\tlabel_a\tlabel_b\tbases\tshare\n";
  const std::vector<std::string>& names = agreement.labels.names;
  for (const PairAgreement& pair : agreement.pairs) {
    const double common = pair.common();
    for (const auto& [labels, bases] : pair.bases) {
      const auto [from, to] = labels;
      if (from == to) continue;
      text += pair_names(samples, pair) + "\t" + escape_control(names[from]) + "\t" +
              escape_control(names[to]) + "\t" + bases_text(bases) + "\t" + share_text(bases, common) + "\n";
    }
  }
  return text;
}

std::string joint_name(const JointStretch& stretch, const JointLabels& labels) {
  std::vector<std::string> names;
  for (const std::uint32_t label : stretch.labels) names.push_back(escape_control(labels.names[label]));
  return joined(names, "|");
}

std::string differences_text(const Agreement& agreement) {
  std::string text;
  for (const JointStretch& stretch : agreement.differences)
    text += fmt::format("{}\t{}\t{}\t{}\n", stretch.chromosome, stretch.begin, stretch.end,
                        joint_name(stretch, agreement.labels));
  return text;
}

}  // namespace semicrf
