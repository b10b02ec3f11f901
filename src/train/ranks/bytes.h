// Numbers as bytes between processes of one program on one kind of machine.
#pragma once

#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace semicrf {

template <class Number>
void put(std::string& bytes, const Number& number) {
  static_assert(std::is_trivially_copyable_v<Number>);
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

// Its length, and its elements.
template <class Number>
void put(std::string& bytes, const std::vector<Number>& list) {
  put(bytes, list.size());
  for (const Number& number : list) put(bytes, number);
}

// Takes what was put, in the same order.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  template <class Number>
  Number take() {
    Number number;
    if (bytes_.size() < sizeof number) throw std::logic_error("a message between ranks is too short");
    std::memcpy(&number, bytes_.data(), sizeof number);
    bytes_.remove_prefix(sizeof number);
    return number;
  }
  template <class Number>
  std::vector<Number> take_list() {
    std::vector<Number> list(take<std::size_t>());
    for (Number& number : list) number = take<Number>();
    return list;
  }

 private:
  std::string_view bytes_;
};

}  // namespace semicrf
