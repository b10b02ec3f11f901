#include <string>
#include <vector>

#include "core/text/names.h"
#include "support/catch.h"

namespace semicrf {
namespace {

struct Named {
  std::string name;
};

TEST_CASE("names are found at their first place in a list") {
  const NameIndex plain = NameIndex::of(std::vector<std::string>{"b", "a", "b", "c"});
  CHECK(plain.find("b") == 0);
  CHECK(plain.find("c") == 3);
  CHECK(plain.size() == 3);
  CHECK_FALSE(plain.contains("d"));
  CHECK(NameIndex::of(std::vector<Named>{{"x"}, {"y"}}).find("y") == 1);
}

TEST_CASE("names that are added get the next place, known ones their own") {
  NameIndex index;
  CHECK(index.add("x") == std::pair<std::size_t, bool>(0, true));
  CHECK(index.add("y") == std::pair<std::size_t, bool>(1, true));
  CHECK(index.add("x") == std::pair<std::size_t, bool>(0, false));
  CHECK(index.size() == 2);
}

}  // namespace
}  // namespace semicrf
