// semicrf._core: the C interface as Python objects. Arguments are checked by the library, and made by
// semicrf/model.py, which alone calls this.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <semicrf.hpp>
#include <string>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;
using namespace semicrf::lib;

namespace {

using Input = nb::ndarray<nb::ro, nb::device::cpu, nb::ndim<2>>;
using Output = nb::ndarray<nb::device::cpu, nb::ndim<2>>;
using Table = nb::ndarray<const double, nb::device::cpu, nb::c_contig>;
template <class Value>
using Made = nb::ndarray<nb::numpy, Value>;

PyObject* exception_of(semicrf_status status) {
  switch (status) {
    case SEMICRF_BAD_ARGUMENT:
    case SEMICRF_BAD_INPUT:
      return PyExc_ValueError;
    case SEMICRF_CANNOT_READ:
    case SEMICRF_CANNOT_WRITE:
      return PyExc_OSError;
    case SEMICRF_OUT_OF_MEMORY:
      return PyExc_MemoryError;
    default:
      return PyExc_RuntimeError;
  }
}

// semicrf_array or semicrf_output of floating-point numbers of `size` bytes, with strides in numbers.
template <class To>
To strided(decltype(To::data) data, std::int64_t size, std::int64_t rows, std::int64_t columns,
           std::int64_t by_row, std::int64_t by_column) {
  return {data, static_cast<semicrf_type>(size), rows, columns, by_row * size, by_column * size};
}
template <class To, class Array>
To strided(const Array& array) {
  return strided<To>(array.data(), static_cast<std::int64_t>(array.itemsize()),
                     static_cast<std::int64_t>(array.shape(0)), static_cast<std::int64_t>(array.shape(1)),
                     array.stride(0), array.stride(1));
}

// A new array of these values.
template <class Value>
Made<Value> made(std::vector<Value> values, std::initializer_list<std::size_t> shape) {
  auto* const kept = new std::vector<Value>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<Value>*>(p); });
  return Made<Value>(kept->data(), shape, owner);
}
nb::object copied(const double* values, std::initializer_list<std::size_t> shape) {
  if (values == nullptr) return nb::none();
  std::size_t count = 1;
  for (const std::size_t size : shape) count *= size;
  return nb::cast(made(std::vector<double>(values, values + count), shape));
}

const double* data_of(const std::optional<Table>& table) { return table ? table->data() : nullptr; }

Model model_of_tables(const Table& transition, const Table& duration, const std::optional<Table>& tail,
                      const std::optional<Table>& start, const std::optional<Table>& end,
                      const std::vector<std::string>& labels, const std::string& initial,
                      const std::string& centering) {
  std::vector<const char*> names;
  for (const std::string& label : labels) names.push_back(label.c_str());
  return Model(semicrf_tables{static_cast<std::int32_t>(transition.shape(0)),
                              static_cast<std::int32_t>(duration.shape(0)), names.data(), transition.data(),
                              duration.data(), data_of(tail), data_of(start), data_of(end), initial.c_str(),
                              centering.c_str()});
}

nb::dict tables_of(const Model& model) {
  const semicrf_tables tables = model.tables();
  const auto labels = static_cast<std::size_t>(tables.num_labels);
  nb::list names;
  for (std::size_t c = 0; c < labels; ++c) names.append(nb::str(tables.labels[c]));
  nb::dict found;
  found["labels"] = names;
  found["transition"] = copied(tables.transition, {labels, labels});
  found["duration"] = copied(tables.duration, {static_cast<std::size_t>(tables.max_duration), labels});
  found["tail"] = copied(tables.tail, {labels});
  found["start"] = copied(tables.start, {labels});
  found["end"] = copied(tables.end, {labels});
  found["initial"] = tables.initial;
  found["centering"] = tables.centering;
  found["columns"] = model.columns();
  return found;
}

Model learn(const std::vector<Input>& sequences, const Model* start, int num_labels,
            const std::optional<std::string>& emission, const std::optional<std::string>& durations,
            int max_duration, bool tail, bool self_transitions, bool random_start, int restarts,
            int max_iterations, double tolerance, std::uint64_t seed, bool double_precision, int threads) {
  std::vector<semicrf_array> arrays;
  for (const Input& one : sequences) arrays.push_back(strided<semicrf_array>(one));
  semicrf_learning how{};
  how.num_labels = num_labels;
  how.emission = emission ? emission->c_str() : nullptr;
  how.durations = durations ? durations->c_str() : nullptr;
  how.max_duration = max_duration;
  how.tail = tail;
  how.self_transitions = self_transitions;
  how.random_start = random_start;
  how.restarts = restarts;
  how.max_iterations = max_iterations;
  how.tolerance = tolerance;
  how.seed = seed;
  const nb::gil_scoped_release released;
  return Model::learn(arrays, how, start, {nullptr, double_precision, threads, 0, 0});
}

// The sequences of a call, with what their pointers point to.
class Sequences {
 public:
  // Tuples (name, scores, start_scores, end_scores, constraints, segments, boundary, labels, starts, ends).
  explicit Sequences(const nb::list& given) {
    for (const nb::handle one : given) add(nb::cast<nb::tuple>(one));
  }
  const std::vector<semicrf_sequence>& all() const { return all_; }

 private:
  template <class To, class Array>
  To take(const nb::handle& given, std::deque<Array>& kept) {
    if (given.is_none()) return {};
    return strided<To>(kept.emplace_back(nb::cast<Array>(given)));
  }
  void add(const nb::tuple& given) {
    semicrf_sequence& sequence = all_.emplace_back();
    if (!given[0].is_none()) sequence.name = names_.emplace_back(nb::cast<std::string>(given[0])).c_str();
    sequence.scores = take<semicrf_array>(given[1], inputs_);
    sequence.start_scores = take<semicrf_array>(given[2], inputs_);
    sequence.end_scores = take<semicrf_array>(given[3], inputs_);
    if (!given[4].is_none()) add_constraints(nb::cast<nb::list>(given[4]), sequence);
    if (!given[5].is_none()) {
      using Segments = nb::ndarray<const std::int64_t, nb::device::cpu, nb::c_contig, nb::shape<-1, 3>>;
      const auto segments = nb::cast<Segments>(given[5]);
      std::vector<semicrf_segment>& kept = segments_.emplace_back();
      kept.reserve(segments.shape(0) + 1);  // so that there is a pointer, also to no segments
      for (std::size_t i = 0; i < segments.shape(0); ++i) {
        const std::int64_t* const row = segments.data() + 3 * i;
        kept.push_back({row[0], row[1], row[2]});
      }
      sequence.segments = kept.data();
      sequence.num_segments = kept.size();
    }
    sequence.boundary = take<semicrf_output>(given[6], outputs_);
    sequence.labels = take<semicrf_output>(given[7], outputs_);
    sequence.starts = take<semicrf_output>(given[8], outputs_);
    sequence.ends = take<semicrf_output>(given[9], outputs_);
  }
  // Tuples (kind, begin, end, labels).
  void add_constraints(const nb::list& given, semicrf_sequence& sequence) {
    std::vector<semicrf_constraint>& kept = constraints_.emplace_back();
    for (const nb::handle one : given) {
      const auto parts = nb::cast<nb::tuple>(one);
      const std::vector<std::int32_t>& labels =
          constraint_labels_.emplace_back(nb::cast<std::vector<std::int32_t>>(parts[3]));
      kept.push_back({static_cast<semicrf_constraint_kind>(nb::cast<int>(parts[0])),
                      nb::cast<std::int64_t>(parts[1]), nb::cast<std::int64_t>(parts[2]), labels.data(),
                      labels.size()});
    }
    sequence.constraints = kept.data();
    sequence.num_constraints = kept.size();
  }

  std::vector<semicrf_sequence> all_;
  std::deque<std::string> names_;
  std::deque<Input> inputs_;
  std::deque<Output> outputs_;
  std::deque<std::vector<semicrf_constraint>> constraints_;
  std::deque<std::vector<std::int32_t>> constraint_labels_;
  std::deque<std::vector<semicrf_segment>> segments_;
};

Result compute(const Engine& engine, const nb::list& given, bool log_partition, bool best_path, bool entropy,
               bool counts, int best, int samples, std::uint64_t seed) {
  const Sequences sequences(given);
  const semicrf_request request{log_partition, best_path, entropy, counts, best, samples, seed};
  const nb::gil_scoped_release released;
  return engine.compute(sequences.all(), request);
}

// (segments, score, log probability); segments (n, 3): begin, end, label.
nb::tuple path_of(const Result& result, std::size_t sequence, int kind, std::size_t index) {
  const auto which = static_cast<semicrf_path_kind>(kind);
  const semicrf_path path = result.path(sequence, which, index);
  std::vector<std::int64_t> rows;
  rows.reserve(3 * path.num_segments);
  for (const semicrf_segment& one : result.segments(sequence, which, index))
    rows.insert(rows.end(), {one.begin, one.end, one.label});
  return nb::make_tuple(made(std::move(rows), {path.num_segments, 3}), path.score, path.log_probability);
}

// (transition, duration, tail)
nb::tuple counts_of(const Result& result, std::size_t sequence, std::size_t labels, std::size_t durations) {
  std::vector<double> transition(labels * labels), duration(durations * labels), tail(labels);
  result.counts(sequence, transition.data(), duration.data(), tail.data());
  return nb::make_tuple(made(std::move(transition), {labels, labels}),
                        made(std::move(duration), {durations, labels}), made(std::move(tail), {labels}));
}

// ---- layers of networks: raw arrays, whose shapes semicrf/torch.py has checked

// An array of PyTorch: address, bytes of a value, strides in values; address 0: there is none.
struct View {
  std::uintptr_t data = 0;
  std::int64_t size = 0, by_sequence = 0, by_row = 0, by_column = 0;

  explicit View(const nb::handle& given) {
    if (given.is_none()) return;
    const auto parts = nb::cast<nb::tuple>(given);
    data = nb::cast<std::uintptr_t>(parts[0]);
    size = nb::cast<std::int64_t>(parts[1]);
    by_sequence = nb::cast<std::int64_t>(parts[2]);
    by_row = nb::cast<std::int64_t>(parts[3]);
    by_column = nb::cast<std::int64_t>(parts[4]);
  }
  // What it has for sequence b; To: semicrf_array or semicrf_output.
  template <class To>
  To of(std::int64_t b, std::int64_t rows, std::int64_t columns) const {
    if (data == 0) return {};
    const std::uintptr_t first = data + static_cast<std::uintptr_t>(b * by_sequence * size);
    return strided<To>(reinterpret_cast<decltype(To::data)>(first), size, rows, columns, by_row, by_column);
  }
  // The doubles of sequence b, which lie one after the other.
  double* values(std::int64_t b) const {
    return data == 0 ? nullptr : reinterpret_cast<double*>(data) + b * by_sequence;
  }
};

// Tables of a layer, double in C order: transition, duration, tail, start, end; address 0: there is none.
struct LayerTables {
  std::int32_t labels = 0, durations = 0;
  std::array<std::vector<double>, 5> values;
  bool uniform = false;

  LayerTables(std::int32_t num_labels, std::int32_t max_duration,
              const std::vector<std::uintptr_t>& addresses, bool initial_uniform)
      : labels(num_labels), durations(max_duration), uniform(initial_uniform) {
    const auto columns = static_cast<std::size_t>(labels);
    const std::size_t rows[] = {columns, static_cast<std::size_t>(durations), 1, 1, 1};
    for (std::size_t i = 0; i < values.size(); ++i)
      if (const auto* const from = reinterpret_cast<const double*>(addresses.at(i)); from != nullptr)
        values[i].assign(from, from + rows[i] * columns);
  }
  friend bool operator==(const LayerTables&, const LayerTables&) = default;

  Model model() const {
    const auto table = [&](std::size_t i) { return values[i].empty() ? nullptr : values[i].data(); };
    return Model(semicrf_tables{labels, durations, nullptr, table(0), table(1), table(2), table(3), table(4),
                                uniform ? "uniform" : "none", "none"});
  }
};

// Keeps its engine as long as the tables stay the same. For one thread at a time.
class Layer {
 public:
  Layer(const std::string& backend, bool double_precision, int threads, int device)
      : backend_(backend), double_precision_(double_precision), threads_(threads), device_(device) {}

  void set_tables(std::int32_t labels, std::int32_t durations, const std::vector<std::uintptr_t>& addresses,
                  bool uniform) {
    LayerTables tables(labels, durations, addresses, uniform);
    if (tables_ && *tables_ == tables) return;
    tables_.reset();
    engine_.reset();
    model_.emplace(tables.model());
    tables_.emplace(std::move(tables));
  }

  // log_partition: (B); labels, starts, ends: outputs (B, T, C); transition (B, C, C), duration (B, K, C) and
  // tail (B, C) of doubles. `stream`: of the caller on a GPU, where scores and outputs lie in C order.
  void forward_backward(const std::vector<std::int64_t>& lengths, const nb::handle& scores,
                        const nb::handle& start_scores, const nb::handle& end_scores,
                        std::uintptr_t log_partition, const nb::handle& labels, const nb::handle& starts,
                        const nb::handle& ends, const nb::handle& transition, const nb::handle& duration,
                        const nb::handle& tail, std::uintptr_t stream) {
    std::vector<semicrf_sequence> sequences = sequences_of(lengths, scores, start_scores, end_scores);
    const View views[] = {View(labels), View(starts), View(ends)};
    const View counts[] = {View(transition), View(duration), View(tail)};
    for (std::size_t b = 0; b < sequences.size(); ++b) {
      const auto at = static_cast<std::int64_t>(b);
      sequences[b].labels = views[0].of<semicrf_output>(at, lengths[b], tables_->labels);
      sequences[b].starts = views[1].of<semicrf_output>(at, lengths[b], tables_->labels);
      sequences[b].ends = views[2].of<semicrf_output>(at, lengths[b], tables_->labels);
    }
    auto* const log_z = reinterpret_cast<double*>(log_partition);
    const nb::gil_scoped_release released;
    semicrf_request request{};
    request.log_partition = 1;
    request.counts = counts[0].data != 0;
    const Result result =
        backend_ == "cuda" ? engine().compute_on_device(sequences, request, reinterpret_cast<void*>(stream))
                           : engine().compute(sequences, request);
    for (std::size_t b = 0; b < sequences.size(); ++b) {
      const auto at = static_cast<std::int64_t>(b);
      log_z[b] = result.number(b, SEMICRF_LOG_PARTITION);
      if (request.counts != 0 && log_z[b] > -std::numeric_limits<double>::infinity())
        result.counts(b, counts[0].values(at), counts[1].values(at), counts[2].values(at));
    }
  }

  // Directions and products: scores, start_scores, end_scores, transition, duration, tail, of doubles in C
  // order.
  void hessian_product(const std::vector<std::int64_t>& lengths, const nb::handle& scores,
                       const nb::handle& start_scores, const nb::handle& end_scores,
                       const nb::list& directions, const nb::list& products) const {
    const std::vector<semicrf_sequence> sequences = sequences_of(lengths, scores, start_scores, end_scores);
    const std::vector<semicrf_variation> along = variations_of(directions, lengths.size());
    const std::vector<semicrf_variation> to = variations_of(products, lengths.size());
    const nb::gil_scoped_release released;
    semicrf::lib::hessian_product(*model_, sequences, along, to, threads_);
  }

 private:
  const Engine& engine() {
    if (!engine_)
      engine_.emplace(*model_,
                      semicrf_options{backend_.c_str(), double_precision_, threads_, device_, kMemory});
    return *engine_;
  }
  std::vector<semicrf_sequence> sequences_of(const std::vector<std::int64_t>& lengths,
                                             const nb::handle& scores, const nb::handle& start_scores,
                                             const nb::handle& end_scores) const {
    const View views[] = {View(scores), View(start_scores), View(end_scores)};
    std::vector<semicrf_sequence> sequences(lengths.size());
    for (std::size_t b = 0; b < sequences.size(); ++b) {
      const auto at = static_cast<std::int64_t>(b);
      sequences[b].scores = views[0].of<semicrf_array>(at, lengths[b], tables_->labels);
      sequences[b].start_scores = views[1].of<semicrf_array>(at, lengths[b], tables_->labels);
      sequences[b].end_scores = views[2].of<semicrf_array>(at, lengths[b], tables_->labels);
    }
    return sequences;
  }
  static std::vector<semicrf_variation> variations_of(const nb::list& given, std::size_t count) {
    std::vector<View> views;
    for (const nb::handle one : given) views.emplace_back(one);
    std::vector<semicrf_variation> found;
    for (std::size_t b = 0; b < count; ++b) {
      const auto at = [&](std::size_t i) { return views.at(i).values(static_cast<std::int64_t>(b)); };
      found.push_back({at(0), at(1), at(2), at(3), at(4), at(5)});
    }
    return found;
  }

  static constexpr std::int64_t kMemory = std::int64_t{1} << 30;  // bytes of windows, for long sequences
  std::string backend_;
  bool double_precision_;
  int threads_, device_;
  std::optional<LayerTables> tables_;
  std::optional<Model> model_;
  std::optional<Engine> engine_;
};

}  // namespace

NB_MODULE(_core, m) {
  nb::register_exception_translator([](const std::exception_ptr& error, void*) {
    try {
      std::rethrow_exception(error);
    } catch (const Failure& failure) {
      PyErr_SetString(exception_of(failure.status()), failure.what());
    }
  });
  m.def("version", [] { return semicrf_version(); });
  nb::class_<Model>(m, "Model")
      .def_static("read", &Model::read, "path"_a)
      .def_static("parse", &Model::parse, "json"_a)
      .def_static("make", &model_of_tables, "transition"_a, "duration"_a, "tail"_a.none(), "start"_a.none(),
                  "end"_a.none(), "labels"_a, "initial"_a, "centering"_a)
      .def_static("learn", &learn, "sequences"_a, "start"_a.none(), "num_labels"_a, "emission"_a.none(),
                  "durations"_a.none(), "max_duration"_a, "tail"_a, "self_transitions"_a, "random_start"_a,
                  "restarts"_a, "max_iterations"_a, "tolerance"_a, "seed"_a, "double_precision"_a,
                  "threads"_a)
      .def("json", &Model::json)
      .def("tables", &tables_of);
  nb::class_<Engine>(m, "Engine")
      .def(
          "__init__",
          [](Engine* self, const Model& model, const std::string& backend, bool double_precision, int threads,
             int device) {
            new (self) Engine(model, {backend.c_str(), double_precision, threads, device, 0});
          },
          "model"_a, "backend"_a, "double_precision"_a, "threads"_a, "device"_a)
      .def("description", &Engine::description)
      .def("compute", &compute, "sequences"_a, "log_partition"_a, "best_path"_a, "entropy"_a, "counts"_a,
           "best"_a, "samples"_a, "seed"_a);
  nb::class_<Layer>(m, "Layer")
      .def(nb::init<const std::string&, bool, int, int>(), "backend"_a, "double_precision"_a, "threads"_a,
           "device"_a)
      .def("set_tables", &Layer::set_tables, "num_labels"_a, "max_duration"_a, "addresses"_a, "uniform"_a)
      .def("forward_backward", &Layer::forward_backward, "lengths"_a, "scores"_a.none(),
           "start_scores"_a.none(), "end_scores"_a.none(), "log_partition"_a, "labels"_a.none(),
           "starts"_a.none(), "ends"_a.none(), "transition"_a.none(), "duration"_a.none(), "tail"_a.none(),
           "stream"_a)
      .def("hessian_product", &Layer::hessian_product, "lengths"_a, "scores"_a.none(),
           "start_scores"_a.none(), "end_scores"_a.none(), "directions"_a, "products"_a);
  nb::class_<Result>(m, "Result")
      .def("number", [](const Result& result, std::size_t sequence,
                        int which) { return result.number(sequence, static_cast<semicrf_number>(which)); })
      .def("paths", [](const Result& result, std::size_t sequence,
                       int kind) { return result.paths(sequence, static_cast<semicrf_path_kind>(kind)); })
      .def("path", &path_of)
      .def("counts", &counts_of);
}
