// What --dry-run decides, the same for every command that runs over sequences.
#pragma once

#include <string>

#include "apps/console/console.h"
#include "apps/options/common_options.h"

namespace semicrf {

template <class Options>
void run_or_plan(const CommonArguments& common, const Options& options,
                 void (*run)(const Options&, Progress*), std::string (*plan)(const Options&)) {
  if (common.dry_run) {
    print(plan(options));
  } else {
    run(options, make_progress(common.log.progress, common.log.quiet).get());
  }
}

}  // namespace semicrf
