// Exponents that are measured: slopes of ln seconds and ln bytes over ln T, ln K and ln C, one varied at a
// time.
#include <string>
#include <vector>

#include "lab/frontier/measure.h"
#include "lab/tables/table.h"

namespace semicrf::lab {
namespace {

struct Axis {
  std::string name;
  std::vector<Shape> shapes;
  Index Shape::*varied;
};

// Trees take n^3 operations per position, so they get smaller shapes.
std::vector<Axis> axes_of(const std::string& method, bool full) {
  const bool tree = method.ends_with("tree") || method == "block-triangular";
  std::vector<Axis> axes{{"T", {}, &Shape::T}, {"K", {}, &Shape::K}, {"C", {}, &Shape::C}};
  const Index more = full ? 2 : 1;
  if (tree) {
    for (const Index T : {32, 64, 128, 256}) axes[0].shapes.push_back({T * more, 4, 2});
    for (const Index K : {6, 9, 13, 20}) axes[1].shapes.push_back({32 * more, K, 2});
    for (const Index C : {2, 3, 5, 8}) axes[2].shapes.push_back({32 * more, 4, C});
  } else if (is_product(method)) {
    for (const Index T : {20'000, 40'000, 80'000, 160'000}) axes[0].shapes.push_back({T * more, 32, 4});
    for (const Index K : {512, 1024, 2048, 4096}) axes[1].shapes.push_back({20'000 * more, K, 4});
    for (const Index C : {8, 16, 32, 64}) axes[2].shapes.push_back({10'000 * more, 16, C});
    if (method == "reference")
      for (Axis& axis : axes)
        for (Shape& shape : axis.shapes) shape.T /= 10;
  } else {
    for (const Index T : {250, 500, 1000, 2000}) axes[0].shapes.push_back({T * more, 10, 4});
    for (const Index K : {10, 20, 40, 80}) axes[1].shapes.push_back({500 * more, K, 4});
    for (const Index C : {4, 8, 16, 24}) axes[2].shapes.push_back({250 * more, 8, C});
  }
  return axes;
}

}  // namespace

void write_complexity(const Run& run) {
  Table points(run, "complexity_points.tsv", {"method", "pass", "axis", "T", "K", "C", "seconds", "bytes"});
  Table slopes(run, "complexity.tsv", {"method", "pass", "axis", "exponent_of_time", "exponent_of_memory"});
  for (const std::string& method : all_methods())
    for (const Pass pass : {Pass::kForward, Pass::kBoth})
      for (const Axis& axis : axes_of(method, run.full)) {
        std::vector<double> x, seconds, bytes;
        for (const Shape& shape : axis.shapes) {
          const Cost found = cost(method, pass, shape, run.pick(0.01, 0.3), ~std::size_t{0});
          points.row(method, name_of(pass), axis.name, shape.T, shape.K, shape.C, found.seconds, found.bytes);
          x.push_back(static_cast<double>(shape.*axis.varied));
          seconds.push_back(found.seconds);
          bytes.push_back(static_cast<double>(found.bytes));
        }
        slopes.row(method, name_of(pass), axis.name, slope(x, seconds), slope(x, bytes));
      }
}

}  // namespace semicrf::lab
