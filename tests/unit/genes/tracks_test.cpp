// Tracks of gene models: what they add to content and signals, their derivatives, and Helixer's files.
#include <cmath>
#include <random>

#include "core/error.h"
#include "genes/gene_features.h"
#include "genes/gene_model_file.h"
#include "genes/learn/gene_counts.h"
#include "genes/predict_genes.h"
#include "genes/sequence_source.h"
#include "genes/tracks/track_file.h"
#include "support/catch.h"
#include "support/scratch_file.h"
#include "support/seeds.h"

#ifdef SEMICRF_HDF5
#include <hdf5.h>
#endif

namespace semicrf {
namespace {

constexpr std::size_t kTracks = 4;
constexpr std::int64_t kLength = 4000;

std::vector<std::uint8_t> random_bases(std::mt19937& random, std::int64_t length) {
  std::vector<std::uint8_t> bases(static_cast<std::size_t>(length));
  for (auto& base : bases) base = static_cast<std::uint8_t>(random() % 4);
  return bases;
}

// A value for each base, strand and track that is easily told again.
class MadeTracks : public TrackValues {
 public:
  static float value(char strand, std::int64_t base, std::size_t track) {
    const double phase = static_cast<double>(base * 7 + static_cast<std::int64_t>(track) * 13);
    return static_cast<float>(std::sin(phase + (strand == '+' ? 0 : 1)));
  }
  void read(char strand, std::int64_t begin, std::int64_t end, float* values) const override {
    for (std::int64_t t = begin; t < end; ++t)
      for (std::size_t i = 0; i < kTracks; ++i) *values++ = value(strand, t, i);
  }
};

// A model of eukaryotes whose contents and signals read the tracks in every way.
GeneModel model_with_tracks() {
  GeneModel model = gene_grammar("eukaryote");
  for (std::size_t i = 0; i < kTracks; ++i)
    model.tracks.push_back({"track" + std::to_string(i), false, 1e-5});
  double weight = 0.02;
  for (ContentModel& one : model.contents) {
    for (std::vector<float>& table : one.tables) table = {0.1F, -0.2F, 0.05F, 0.0F};
    one.weight = 0.7, one.bias = -0.01;
    one.terms = {{{0, 0, 0}, false, 0, weight}, {{1, 1, 1}, true, 0, -weight}};
    if (one.codons) one.terms.push_back({{1, 2, 3}, false, 0, 2 * weight});
  }
  for (SignalModel& one : model.signals) {
    one.weight = 0.8;
    one.terms = {{{2, 2, 2}, false, -1, 0.3}, {{3, 3, 3}, true, 2, -0.4}};
  }
  return model;
}

TEST_CASE("contents and signals add the weighted values of their tracks") {
  std::mt19937 random(testing::test_seed(11));
  const std::vector<std::uint8_t> bases = random_bases(random, kLength);
  const GeneModel model = model_with_tracks();
  GeneModel plain = model;
  plain.tracks.clear();
  for (ContentModel& one : plain.contents) one.terms.clear();
  for (SignalModel& one : plain.signals) one.terms.clear();
  const GeneLattice lattice = compile(model, "m");
  const MadeTracks tracks;
  const auto other = [](char strand) { return strand == '+' ? '-' : '+'; };
  for (const auto& [begin, end] : {std::pair<std::int64_t, std::int64_t>{0, kLength}, {100, 3000}}) {
    const SequenceSource source(model, lattice, bases, begin, end, &tracks);
    const SequenceSource without(plain, lattice, bases, begin, end);
    LatticeWindow window, window_without;
    for (const auto& [from, to] :
         {std::pair<std::int64_t, std::int64_t>{0, end - begin}, {31, 32}, {500, 611}}) {
      source.read(from, to, window);
      without.read(from, to, window_without);
      REQUIRE(window.content.size() == window_without.content.size());
      const std::size_t columns = lattice.columns.size();
      for (std::int64_t t = from; t < to; ++t)
        for (std::size_t c = 0; c < columns; ++c) {
          const StrandedModel& column = lattice.columns[c];
          double sum = 0;
          for (const TrackTerm& term : model.contents[static_cast<std::size_t>(column.model)].terms) {
            const std::int64_t base = begin + t;
            std::size_t codon = 0;
            if (column.frame >= 0) {
              const std::int64_t from_left = (base + 3 - column.frame) % 3;
              codon = static_cast<std::size_t>(column.strand == '+' ? from_left : 2 - from_left);
            }
            sum += term.weight * static_cast<double>(MadeTracks::value(
                                     term.other_strand ? other(column.strand) : column.strand, base,
                                     static_cast<std::size_t>(term.track[codon])));
          }
          const std::size_t i = static_cast<std::size_t>(t - from) * columns + c;
          CHECK(std::abs(static_cast<double>(window.content[i] - window_without.content[i]) - sum) < 1e-5);
        }
      REQUIRE(window.events.size() == window_without.events.size());
      for (const LatticeWindow::Event& event : window.events)
        for (std::size_t s = 0; s < lattice.signals.size(); ++s) {
          if ((event.signals >> s & 1) == 0) continue;
          const StrandedModel& signal = lattice.signals[s];
          double sum = 0;
          for (const TrackTerm& term : model.signals[static_cast<std::size_t>(signal.model)].terms) {
            const std::int64_t boundary = begin + event.boundary;
            const std::int64_t base = signal.strand == '+' ? boundary + term.at : boundary - 1 - term.at;
            if (base < 0 || base >= kLength) continue;
            sum += term.weight * static_cast<double>(MadeTracks::value(
                                     term.other_strand ? other(signal.strand) : signal.strand, base,
                                     static_cast<std::size_t>(term.track[0])));
          }
          const int index = static_cast<int>(s);
          CHECK(std::abs(window.score(event, index) - window_without.score(event, index) - sum) < 1e-5);
        }
    }
  }
}

TEST_CASE("expected values of tracks are the derivatives of log Z") {
  std::mt19937 random(testing::test_seed(12));
  const std::vector<std::uint8_t> bases = random_bases(random, kLength);
  GeneModel model = model_with_tracks();
  const MadeTracks tracks;
  const auto expected = [&] {
    const GeneLattice lattice = compile(model, "m");
    const SequenceSource source(model, lattice, bases, 100, 3000, &tracks);
    return expected_features(model, lattice, source, source);
  };
  const GeneFeatures found = expected().features;
  double largest = 0;
  const auto check = [&](double& value, double derivative) {
    constexpr double kStep = 1e-3;
    const double kept = value;
    value = kept + kStep;
    const double above = expected().log_z;
    value = kept - kStep;
    const double below = expected().log_z;
    value = kept;
    CHECK(std::abs((above - below) / (2 * kStep) - derivative) < 2e-3 * (1 + std::abs(derivative)));
    largest = std::max(largest, std::abs(derivative));
  };
  for (std::size_t i = 0; i < model.contents.size(); ++i) {
    check(model.contents[i].weight, found.content[i]);
    check(model.contents[i].bias, found.bases[i]);
    for (std::size_t j = 0; j < model.contents[i].terms.size(); ++j)
      check(model.contents[i].terms[j].weight, found.content_terms[i][j]);
  }
  for (std::size_t i = 0; i < model.signals.size(); ++i) {
    check(model.signals[i].weight, found.signals[i]);
    for (std::size_t j = 0; j < model.signals[i].terms.size(); ++j)
      check(model.signals[i].terms[j].weight, found.signal_terms[i][j]);
  }
  CHECK(largest > 1);
}

TEST_CASE("the score of a path with tracks is the product of its features") {
  std::mt19937 random(testing::test_seed(13));
  const std::vector<std::uint8_t> bases = random_bases(random, kLength);
  const GeneModel model = model_with_tracks();
  const GeneLattice lattice = compile(model, "m");
  const MadeTracks tracks;
  const SequenceSource source(model, lattice, bases, 0, kLength, &tracks);
  const LatticePath path = best_path(lattice.lattice, source);
  REQUIRE(path.segments.size() > 3);
  const auto features = features_of_path(model, lattice, source, path.segments);
  REQUIRE(features);
  CHECK(std::abs(score_of(model, *features) - path.score) < 1e-3);
  for (const int threads : {1, 3}) {
    const PredictedSequence found = predict_genes(model, lattice, source, threads);
    CHECK(found.score == path.score);
  }
}

TEST_CASE("gene models keep their tracks in files") {
  const GeneModel model = model_with_tracks();
  const std::string text = gene_model_text(model);
  const test::ScratchFile file({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  const GeneModel back = read_gene_model(file.path());
  CHECK(gene_model_text(back) == text);
  REQUIRE(back.contents[0].terms.size() == 3);
  CHECK(back.contents[0].terms[2].track == std::array<int, 3>{1, 2, 3});
  CHECK(back.signals[0].terms[1].other_strand);
  CHECK(back.signals[0].terms[1].at == 2);
}

TEST_CASE("scaled tracks are logarithms, and refuse what has none") {
  class Fixed : public TrackValues {
   public:
    explicit Fixed(float value) : value_(value) {}
    void read(char, std::int64_t begin, std::int64_t end, float* values) const override {
      std::fill_n(values, end - begin, value_);
    }

   private:
    float value_;
  };
  const auto read = [](float value, bool logarithm) {
    const ScaledTracks tracks(std::make_shared<Fixed>(value), {{"exon", logarithm, 1e-3}}, "file:a");
    float out[2];
    tracks.read('-', 5, 7, out);
    return out[1];
  };
  CHECK(std::abs(read(0.5F, true) - std::log(0.5F)) < 1e-6F);
  CHECK(std::abs(read(0, true) - std::log(1e-3F)) < 1e-5F);
  CHECK(read(-0.5F, false) == -0.5F);
  CHECK_THROWS_WITH(read(-0.5F, true),
                    Catch::Contains("file:a:base 6, strand -: track exon: a negative value"));
  CHECK_THROWS_AS(read(std::nanf(""), false), InputError);
}

#ifdef SEMICRF_HDF5

// What a data set of a file is made of.
template <class Value>
void put(hid_t file, const char* name, hid_t stored, hid_t native, const std::vector<hsize_t>& shape,
         const std::vector<Value>& values) {
  const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
  const hid_t set = H5Dcreate2(file, name, stored, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(set, native, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  H5Dclose(set), H5Sclose(space);
}

constexpr hsize_t kChunk = 50;  // bases

// The value of a class at a base of a strand.
float class_value(char strand, std::int64_t base, hsize_t track) {
  return static_cast<float>(base * 16) + static_cast<float>(track) + (strand == '-' ? 8 : 0);
}

// A sequence "a" of 120 bases, as Helixer divides it: 2.4 chunks on each strand, those of - from the right.
struct HelixerPair {
  test::ScratchFile predictions, input;
  explicit HelixerPair(std::int64_t last_end = 120, const char* second_name = "a") {
    const std::vector<std::int64_t> ends{0, 50, 50, 100, 100, last_end, 120, 100, 100, 50, 50, 0};
    std::vector<float> classes(6 * kChunk * 4), phases(6 * kChunk * 4);
    for (hsize_t chunk = 0; chunk < 6; ++chunk)
      for (hsize_t row = 0; row < kChunk; ++row)
        for (hsize_t track = 0; track < 4; ++track) {
          const char strand = chunk < 3 ? '+' : '-';
          const std::int64_t from = ends[2 * chunk], step = static_cast<std::int64_t>(row);
          const std::int64_t base = strand == '+' ? from + step : from - 1 - step;
          const hsize_t at = (chunk * kChunk + row) * 4 + track;
          classes[at] = class_value(strand, base, track), phases[at] = class_value(strand, base, track + 4);
        }
    hid_t file = H5Fcreate(predictions.path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    put(file, "predictions", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, {6, kChunk, 4}, classes);
    put(file, "predictions_phase", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, {6, kChunk, 4}, phases);
    H5Fclose(file);
    file = H5Fcreate(input.path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Gclose(H5Gcreate2(file, "data", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    put(file, "data/start_ends", H5T_STD_I64LE, H5T_NATIVE_INT64, {6, 2}, ends);
    std::vector<char> names(6 * 5, '\0');
    for (std::size_t i = 0; i < 6; ++i) names[i * 5] = i == 1 ? second_name[0] : 'a';
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, 5);
    put(file, "data/seqids", type, type, {6}, names);
    H5Tclose(type);
    H5Fclose(file);
  }
};

TEST_CASE("predictions of Helixer lie where their chunks say") {
  const HelixerPair pair;
  const auto file = open_helixer_tracks(pair.predictions.path(), pair.input.path());
  REQUIRE(file->count() == 8);
  CHECK(file->names()[2] == "cds");
  const auto values = file->open("a", 120);
  for (const auto& [begin, end] :
       {std::pair<std::int64_t, std::int64_t>{0, 120}, {49, 51}, {99, 120}, {7, 8}}) {
    std::vector<float> out(static_cast<std::size_t>(end - begin) * 8);
    for (const char strand : {'+', '-'}) {
      values->read(strand, begin, end, out.data());
      for (std::int64_t t = begin; t < end; ++t)
        for (hsize_t track = 0; track < 8; ++track)
          CHECK(out[static_cast<std::size_t>(t - begin) * 8 + track] == class_value(strand, t, track));
    }
  }
  CHECK_THROWS_WITH(file->open("b", 120), Catch::Contains("no sequence b"));
  CHECK_THROWS_WITH(file->open("a", 121), Catch::Contains("hold bases 0 to 120 of 121"));
}

TEST_CASE("damaged files of Helixer are refused with a line") {
  const HelixerPair pair;
  const auto open = [](const std::string& predictions, const std::string& input) {
    return open_helixer_tracks(predictions, input)->open("a", 120);
  };
  CHECK_THROWS_WITH(open(pair.input.path(), pair.predictions.path()),
                    Catch::Contains("predictions: not in the file"));
  CHECK_THROWS_AS(open(HelixerPair(119).predictions.path(), HelixerPair(119).input.path()), InputError);
  const HelixerPair gap(120, "b");
  CHECK_THROWS_WITH(open(gap.predictions.path(), gap.input.path()),
                    Catch::Contains("hold bases 0 to 50 of 120"));
  const HelixerPair beyond(170);
  CHECK_THROWS_WITH(open(beyond.predictions.path(), beyond.input.path()),
                    Catch::Contains("which no chunk of 50 bases can hold"));
  const test::ScratchFile text({reinterpret_cast<const std::uint8_t*>("no HDF5 at all"), 14});
  CHECK_THROWS_WITH(open(text.path(), pair.input.path()), Catch::Contains("not a sound HDF5 file"));
  // Every byte of the first part changed, and the file cut anywhere: an error or values, and nothing else.
  std::ifstream in(pair.predictions.path(), std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  std::mt19937 random(testing::test_seed(14));
  for (int n = 0; n < 300; ++n) {
    std::string damaged = whole;
    if (n % 2 == 0)
      damaged.resize(random() % damaged.size());
    else
      for (int flips = 0; flips < 3; ++flips)
        damaged[random() % std::min<std::size_t>(damaged.size(), 3000)] = static_cast<char>(random());
    const test::ScratchFile file({reinterpret_cast<const std::uint8_t*>(damaged.data()), damaged.size()});
    try {
      std::vector<float> out(120 * 8);
      const auto values = open(file.path(), pair.input.path());
      values->read('+', 0, 120, out.data());
    } catch (const InputError&) {
    }
  }
}

#endif

}  // namespace
}  // namespace semicrf
