// Members of a JSON object made of a list of statistics. Sources that write JSON include this.
#pragma once

#include <string>

#include "core/text/statistic.h"

namespace semicrf {

enum class Unknown { kLeftOut, kNull };

// A member under its name. A number that is not finite becomes null when it is printed.
template <class Json, class Of>
void put(Json& object, const Statistic<Of>& one, const Of& of, Unknown unknown = Unknown::kNull) {
  Json member;
  one.value(of).visit([&](auto number) { member = number; });
  if (!member.is_null() || unknown == Unknown::kNull) object[std::string(one.name)] = member;
}

// Those of one part.
template <class Json, class Of>
void put_known(Json& object, const StatisticList<Of>& list, const Of& of, JsonPart part = JsonPart::kFirst) {
  for (const Statistic<Of>& one : list)
    if (one.part == part) put(object, one, of, Unknown::kLeftOut);
}
template <class Json, class Of>
void put_all(Json& object, const StatisticList<Of>& list, const Of& of) {
  for (const Statistic<Of>& one : list)
    if (one.part == JsonPart::kFirst) put(object, one, of);
}

}  // namespace semicrf
