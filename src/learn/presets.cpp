#include "learn/presets.h"

#include "io/params/params_json.h"
#include "learn/copy_number.h"

namespace semicrf {
namespace {

// Segments of 1.5, 1, 4 and 15 kb, with labels as likely behind each other: where a fit begins.
constexpr const char* kMethylation = R"({
  "format": "semicrf-params", "format_version": "1.3", "max_duration": 1, "bin_size": 1,
  "labels": [{"name": "unmethylated", "color": "#0072b2"}, {"name": "low", "color": "#56b4e9"},
             {"name": "partial", "color": "#e69f00"}, {"name": "full", "color": "#e0e0e0"}],
  "centering": "none", "initial": "none",
  "transition": [["-inf", -1.0986122886681098, -1.0986122886681098, -1.0986122886681098],
                 [-1.0986122886681098, "-inf", -1.0986122886681098, -1.0986122886681098],
                 [-1.0986122886681098, -1.0986122886681098, "-inf", -1.0986122886681098],
                 [-1.0986122886681098, -1.0986122886681098, -1.0986122886681098, "-inf"]],
  "duration": {"kind": "geometric", "p": [0.0006666666666666666, 0.001, 0.00025, 0.00006666666666666667],
               "tail": "continue"},
  "start": [-1.3862943611198906, -1.3862943611198906, -1.3862943611198906, -1.3862943611198906],
  "tracks": [{"name": "methylated", "missing": "marginal"}, {"name": "total", "missing": "marginal"},
    {"name": "methylated in unmethylated", "density_of": "methylated", "family": "beta-binomial", "trials": "total",
     "mean": 0.03, "size": 10},
    {"name": "methylated in low", "density_of": "methylated", "family": "beta-binomial", "trials": "total",
     "mean": 0.25, "size": 6},
    {"name": "methylated in partial", "density_of": "methylated", "family": "beta-binomial", "trials": "total",
     "mean": 0.6, "size": 6},
    {"name": "methylated in full", "density_of": "methylated", "family": "beta-binomial", "trials": "total",
     "mean": 0.88, "size": 10}],
  "emission": {"weights": [[0, 0, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]],
               "bias": [0, 0, 0, 0]}
})";

}  // namespace

void apply_preset(const std::string& name, LearnOptions& options) {
  if (name != "methylation") return apply_copy_number(name, options);
  options.input.sites = true;
  options.preset = parse_params_json(kMethylation, "--preset " + name);
}

}  // namespace semicrf
