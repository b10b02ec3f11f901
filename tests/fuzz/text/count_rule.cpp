// The options behind the ? of a file of reads.
#include "reads/count_rule.h"

#include "fuzz/fuzz_input.h"

namespace semicrf::fuzz {

void run(std::span<const std::uint8_t> bytes) {
  allow_refusal([&] {
    const std::string text = count_rule_text(parse_count_rule(text_of(bytes)));
    require(count_rule_text(parse_count_rule(text)) == text, "a rule is what its text says");
  });
}

}  // namespace semicrf::fuzz
