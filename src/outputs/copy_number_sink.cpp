// Segments of copy number for the programs that draw or call them: SEG (IGV, DNAcopy), CNS (CNVkit) and VCF,
// with the mean log ratio of each segment. CNS and VCF have copies where labels are copies, and the
// probability of the label.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text/text.h"
#include "io/files/output_names.h"
#include "io/segments/segment_columns.h"
#include "model/copies.h"
#include "outputs/formats.h"

namespace semicrf {

namespace {

// What a line says: a segment, or touching ones of one label.
struct MeasuredSegment {
  std::string_view chromosome;
  std::int64_t begin = 0, end = 0;  // bases
  std::int64_t bins = 0;            // with a value
  std::string log_ratio;            // their mean; empty: no bin has a value
  int label = 0;
  std::optional<double> posterior;  // mean of the label's over the bins; nothing: not computed
};

// The name of the file before its endings, which stands for the sample.
std::string sample_in(const std::string& path) {
  return std::filesystem::path(without_compression(path)).stem().string();
}

class CopyNumberSink : public SegmentSink {
 public:
  CopyNumberSink(OutputFile& file, const SegmentOutput& output)
      : SegmentSink(output), file_(file), joiner_(output.bed.merge_adjacent), signal_(output.signal) {}

 protected:
  virtual std::string line(const MeasuredSegment& segment) const = 0;
  void write(const std::string& text) { file_.write(text); }

 private:
  void begin_segments(const BinLocation& location) override { location_ = location; }
  void add(const Segment& segment, const SegmentPosteriors* support) override {
    has_support_ = support != nullptr;
    joiner_.add(segment, has_support_ ? *support : SegmentPosteriors{},
                [this](const Segment& s, const SegmentPosteriors& known) { print(s, known); });
  }
  void end_segments() override {
    joiner_.finish([this](const Segment& s, const SegmentPosteriors& known) { print(s, known); });
  }

  void print(const Segment& segment, const SegmentPosteriors& known) {
    const SignalMean mean =
        signal_ != nullptr ? signal_->log_ratio(location_, segment.begin, segment.end) : SignalMean{};
    file_.write(
        line({location_.chromosome, location_.begin_base(segment.begin), location_.end_base(segment.end),
              mean.bins, mean.bins > 0 ? formatted("%.6g", mean.value) : "", segment.label,
              has_support_ ? std::optional(known.mean_label_posterior) : std::nullopt}));
  }

  OutputFile& file_;
  BinLocation location_;
  SegmentJoiner joiner_;
  std::shared_ptr<PeakSignal> signal_;
  bool has_support_ = false;
};

class SegSink : public CopyNumberSink {
 public:
  SegSink(OutputFile& file, const SegmentOutput& output)
      : CopyNumberSink(file, output), sample_(sample_in(output.file.path)) {
    write("ID\tchrom\tloc.start\tloc.end\tnum.mark\tseg.mean\n");
  }

 private:
  std::string line(const MeasuredSegment& segment) const override {
    return fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", sample_, segment.chromosome, segment.begin + 1,
                       segment.end, segment.bins, segment.bins > 0 ? segment.log_ratio : "NA");
  }

  std::string sample_;
};

// The copies that a label says: in all, of one parent, of the other one.
std::string copies_text(const std::optional<LabelCopies>& copies) {
  if (!copies) return "\t\t";
  return copies->of_parents ? fmt::format("{}\t{}\t{}", copies->all(), copies->first, copies->second)
                            : fmt::format("{}\t\t", copies->first);
}

class CnsSink : public CopyNumberSink {
 public:
  CnsSink(OutputFile& file, const SegmentOutput& output) : CopyNumberSink(file, output) {
    for (const auto& copies : copies_of_labels(output.labels)) copies_.push_back(copies_text(copies));
    write("chromosome\tstart\tend\tgene\tlog2\tprobes\tcn\tcn1\tcn2\tp_label\n");
  }

 private:
  std::string line(const MeasuredSegment& segment) const override {
    return fmt::format("{}\t{}\t{}\t-\t{}\t{}\t{}\t{}\n", segment.chromosome, segment.begin, segment.end,
                       segment.log_ratio, segment.bins, copies_[segment.label],
                       segment.posterior ? formatted("%.6g", *segment.posterior) : "");
  }

  std::vector<std::string> copies_;  // by label, the three columns
};

// A record for each segment whose copies are not the usual ones, two, one of each parent (VCF 4.3,
// sections 1.4.5 and 3: symbolic alleles; the position is the base before the segment).
class VcfSink : public CopyNumberSink {
 public:
  VcfSink(OutputFile& file, const SegmentOutput& output)
      : CopyNumberSink(file, output), copies_(copies_of_labels(output.labels)) {
    std::string header =
        "##fileformat=VCFv4.3\n"
        "##ALT=<ID=DEL,Description=\"Fewer than two copies\">\n"
        "##ALT=<ID=DUP,Description=\"More than two copies\">\n"
        "##ALT=<ID=CNV,Description=\"Two copies of one parent, none of the other\">\n"
        "##INFO=<ID=SVTYPE,Number=1,Type=String,Description=\"DEL, DUP or CNV\">\n"
        "##INFO=<ID=END,Number=1,Type=Integer,Description=\"Last base of the segment\">\n"
        "##INFO=<ID=SVLEN,Number=1,Type=Integer,Description=\"Bases of the segment, negative for DEL\">\n"
        "##INFO=<ID=LOG2,Number=1,Type=Float,Description=\"Mean log ratio\">\n"
        "##INFO=<ID=BINS,Number=1,Type=Integer,Description=\"Bins with a log ratio\">\n"
        "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"Parents whose copies are not one: 0/1, 1/1\">\n"
        "##FORMAT=<ID=CN,Number=1,Type=Integer,Description=\"Copies\">\n"
        "##FORMAT=<ID=MCN,Number=1,Type=Integer,Description=\"Copies of the parent that has fewer\">\n"
        "##FORMAT=<ID=CNP,Number=1,Type=Float,Description=\"Mean probability of these copies over the "
        "bins\">\n";
    for (const Chromosome& chromosome : output.chromosomes.list())
      header += fmt::format("##contig=<ID={},length={}>\n", chromosome.name, chromosome.length);
    write(header + "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\t" + sample_in(output.file.path) +
          "\n");
  }

 private:
  static constexpr double kMostQuality = 100;  // that a float can tell from certain

  std::string line(const MeasuredSegment& segment) const override {
    const std::optional<LabelCopies>& copies = copies_[segment.label];
    if (!copies || (copies->all() == 2 && (!copies->of_parents || copies->first == 1))) return "";
    const bool fewer = copies->all() < 2;
    const char* const kind = fewer ? "DEL" : copies->all() > 2 ? "DUP" : "CNV";
    const std::int64_t bases = segment.end - segment.begin;
    const std::string ratio = segment.bins > 0 ? ";LOG2=" + segment.log_ratio : "";
    const std::string quality =
        segment.posterior
            ? formatted("%.4g", std::clamp(-10 * std::log10(1 - *segment.posterior), 0.0, kMostQuality))
            : ".";
    return fmt::format(
        "{}\t{}\t.\tN\t<{}>\t{}\t.\tSVTYPE={};END={};SVLEN={}{};BINS={}\tGT:CN:MCN:CNP\t{}:{}:{}:{}\n",
        segment.chromosome, std::max<std::int64_t>(segment.begin, 1), kind, quality, kind, segment.end,
        fewer ? -bases : bases, ratio, segment.bins, genotype(*copies), copies->all(),
        copies->of_parents ? fmt::format("{}", std::min(copies->first, copies->second)) : ".",
        segment.posterior ? formatted("%.6g", *segment.posterior) : ".");
  }

  // How many of the two parents have another number than one.
  static const char* genotype(const LabelCopies& copies) {
    if (copies.of_parents) return copies.first != 1 && copies.second != 1 ? "1/1" : "0/1";
    return copies.all() == 0 ? "1/1" : copies.all() == 1 || copies.all() == 3 ? "0/1" : "./1";
  }

  std::vector<std::optional<LabelCopies>> copies_;  // by label
};

}  // namespace

std::unique_ptr<OutputSink> make_seg_sink(OutputFile& file, const SegmentOutput& output) {
  return std::make_unique<SegSink>(file, output);
}

std::unique_ptr<OutputSink> make_cns_sink(OutputFile& file, const SegmentOutput& output) {
  return std::make_unique<CnsSink>(file, output);
}

std::unique_ptr<OutputSink> make_vcf_sink(OutputFile& file, const SegmentOutput& output) {
  return std::make_unique<VcfSink>(file, output);
}

}  // namespace semicrf
