// The C interface for C++ (C++20): handles that free themselves, and exceptions in place of status codes.
// Everything else is as semicrf.h says.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "semicrf.h"

namespace semicrf::lib {

// A call that failed.
class Failure : public std::runtime_error {
 public:
  Failure(semicrf_status status, const char* text) : std::runtime_error(text), status_(status) {}
  semicrf_status status() const { return status_; }

 private:
  semicrf_status status_;
};

// Calls function(arguments..., &error) and throws what it says.
template <class Function, class... Arguments>
void call(Function function, Arguments... arguments) {
  semicrf_error error;
  if (const semicrf_status status = function(arguments..., &error); status != SEMICRF_OK)
    throw Failure(status, error.text);
}

// (rows, columns) values in C order.
template <class Value>
semicrf_array array_of(const Value* data, std::int64_t rows, std::int64_t columns) {
  static_assert(std::is_same_v<Value, float> || std::is_same_v<Value, double>);
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(Value));
  return {data, static_cast<semicrf_type>(kSize), rows, columns, columns * kSize, kSize};
}
template <class Value>
semicrf_output output_of(Value* data, std::int64_t rows, std::int64_t columns) {
  const semicrf_array array = array_of<Value>(data, rows, columns);
  return {data, array.type, rows, columns, array.row_stride, array.column_stride};
}

class Model {
 public:
  static Model read(const std::string& path) {
    semicrf_model* model = nullptr;
    call(semicrf_model_read, path.c_str(), &model);
    return Model(model);
  }
  static Model parse(const std::string& json) {
    semicrf_model* model = nullptr;
    call(semicrf_model_parse, json.data(), json.size(), &model);
    return Model(model);
  }
  explicit Model(const semicrf_tables& tables) {
    semicrf_model* model = nullptr;
    call(semicrf_model_make, &tables, &model);
    model_.reset(model);
  }

  // `start`: null, or a model to go on from.
  static Model learn(std::span<const semicrf_array> sequences, const semicrf_learning& how,
                     const Model* start = nullptr, const semicrf_options& options = {}) {
    semicrf_model* model = nullptr;
    call(semicrf_learn, sequences.data(), sequences.size(), start != nullptr ? start->get() : nullptr, &how,
         &options, &model);
    return Model(model);
  }

  std::string json() const {
    std::size_t length = 0;
    call(semicrf_model_json, get(), nullptr, std::size_t{0}, &length);
    std::string text(length, '\0');
    call(semicrf_model_json, get(), text.data(), length, &length);
    return text;
  }
  semicrf_tables tables() const {
    semicrf_tables tables{};
    call(semicrf_model_tables, get(), &tables);
    return tables;
  }
  std::int64_t columns() const {
    std::int64_t columns = 0;
    call(semicrf_model_columns, get(), &columns, nullptr);
    return columns;
  }
  const semicrf_model* get() const { return model_.get(); }

 private:
  struct Free {
    void operator()(semicrf_model* model) const { semicrf_model_free(model); }
  };
  explicit Model(semicrf_model* model) : model_(model) {}
  std::unique_ptr<semicrf_model, Free> model_;
};

// As many directions and products as sequences.
inline void hessian_product(const Model& model, std::span<const semicrf_sequence> sequences,
                            std::span<const semicrf_variation> directions,
                            std::span<const semicrf_variation> products, int threads = 1) {
  call(semicrf_hessian_product, model.get(), sequences.data(), sequences.size(), directions.data(),
       products.data(), threads);
}

class Result {
 public:
  explicit Result(semicrf_result* result) : result_(result) {}

  double number(std::size_t sequence, semicrf_number which) const {
    double value = 0;
    call(semicrf_result_number, get(), sequence, which, &value);
    return value;
  }
  std::size_t paths(std::size_t sequence, semicrf_path_kind kind) const {
    std::size_t count = 0;
    call(semicrf_result_paths, get(), sequence, kind, &count);
    return count;
  }
  semicrf_path path(std::size_t sequence, semicrf_path_kind kind, std::size_t index = 0) const {
    semicrf_path path{};
    call(semicrf_result_path, get(), sequence, kind, index, &path);
    return path;
  }
  std::vector<semicrf_segment> segments(std::size_t sequence, semicrf_path_kind kind,
                                        std::size_t index = 0) const {
    std::vector<semicrf_segment> segments(path(sequence, kind, index).num_segments);
    call(semicrf_result_segments, get(), sequence, kind, index, segments.data(), segments.size());
    return segments;
  }
  void counts(std::size_t sequence, double* transition, double* duration, double* tail) const {
    call(semicrf_result_counts, get(), sequence, transition, duration, tail);
  }
  const semicrf_result* get() const { return result_.get(); }

 private:
  struct Free {
    void operator()(semicrf_result* result) const { semicrf_result_free(result); }
  };
  std::unique_ptr<semicrf_result, Free> result_;
};

class Engine {
 public:
  explicit Engine(const Model& model, const semicrf_options& options = {}) {
    semicrf_engine* engine = nullptr;
    call(semicrf_engine_make, model.get(), &options, &engine);
    engine_.reset(engine);
  }
  std::string description() const { return semicrf_engine_description(engine_.get()); }
  Result compute(std::span<const semicrf_sequence> sequences, const semicrf_request& request) const {
    semicrf_result* result = nullptr;
    call(semicrf_compute, engine_.get(), sequences.data(), sequences.size(), &request, &result);
    return Result(result);
  }
  Result compute_on_device(std::span<const semicrf_sequence> sequences, const semicrf_request& request,
                           void* stream) const {
    semicrf_result* result = nullptr;
    call(semicrf_compute_on_device, engine_.get(), sequences.data(), sequences.size(), &request, stream,
         &result);
    return Result(result);
  }

 private:
  struct Free {
    void operator()(semicrf_engine* engine) const { semicrf_engine_free(engine); }
  };
  std::unique_ptr<semicrf_engine, Free> engine_;
};

}  // namespace semicrf::lib
