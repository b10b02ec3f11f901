#include "apps/options/emission_options.h"

#include "apps/options/common_options.h"

namespace semicrf {

void add_emission_options(CLI::App& command, EmissionArguments& arguments, const std::string& more) {
  add_repeatable(
      command, "--emission", arguments.emissions,
      "distribution of the values in the bins of a label: bernoulli (0 and 1), gaussian, student-t, "
      "poisson or negative-binomial (counts), binomial or beta-binomial (pairs of tracks, successes "
      "and trials), categorical (whole numbers from 0 on); auto: by the values" +
          more +
          ". Of single "
          "tracks: x=student-t, successes/trials=binomial, counts/exposure=negative-binomial")
      ->type_name("[TRACK[/TRACK]=]FAMILY");
  add_number(command, "--outliers", arguments.outliers,
             "share of the values of gaussian and student-t tracks that are anywhere from the least to the "
             "largest, and say little",
             CLI::Range(0.0, 0.5));
  add_list(command, "--tie", arguments.tie,
           "numbers that all labels share, each track with its own: means, scales, sizes (degrees of "
           "freedom, dispersions). learn alone: durations, one law of them for all labels; ordered, or "
           "TRACK=ordered: means that grow from label to label",
           "PART,...");
}

void add_wishes(const EmissionArguments& arguments, EmissionWishes& wishes) {
  for (const std::string& text : arguments.emissions)
    if (text != "auto") wishes.choices.push_back(emission_choice(text));
  wishes.outliers = arguments.outliers;
  wishes.tied = tied_parts(arguments.tie);
  wishes.ordered = ordered_tracks(arguments.tie);
}

}  // namespace semicrf
