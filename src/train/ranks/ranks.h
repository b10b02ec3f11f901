// The processes that compute a fit together, and what they tell each other.
//
// Rank 0 runs the fit and asks; the other ranks answer, and print and write nothing. Every exchange is one of
// two: rank 0 sends bytes to all, or each rank does its part of some work and rank 0 gets the results. An
// error in the part of any rank ends the work on all of them, so that none waits for another for ever.
#pragma once

#include <cstddef>
#include <cstring>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace semicrf {

// Thrown on the other ranks when the work ended with an error, which rank 0 throws and tells.
class OtherRankFailed : public std::exception {
 public:
  const char* what() const noexcept override { return "another rank failed"; }
};

class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual int rank() const { return 0; }
  virtual int size() const { return 1; }
  bool is_first() const { return rank() == 0; }

  // Bytes of rank 0 to every rank.
  virtual void broadcast(std::string& bytes) { static_cast<void>(bytes); }

  // Does `part` on every rank. Rank 0 gets the bytes that each returned, in the order of the ranks; the
  // others get nothing. Where a part throws, rank 0 throws the error of the first rank that did, with the
  // rank's number where that is not 0, and the other ranks throw OtherRankFailed.
  std::vector<std::string> gather(const std::function<std::string()>& part);

  // Rank 0: the others have come to serve().
  void others_serve() { others_serve_ = true; }
  // Rank 0: sends a request to the ranks that serve, which do from here to answered() what rank 0 does.
  void ask(std::string request);
  void answered() { others_serve(); }
  // The other ranks: answers requests until the program ends on rank 0; after that it returns at once.
  void serve(const std::function<void(const std::string&)>& answer);

  // At the end of the program: lets the ranks go that serve. Ends all at once where rank 0 failed while they
  // did something else, or another rank failed by itself.
  void finish(int exit_code);

 protected:
  // Bytes of every rank to rank 0.
  virtual std::vector<std::string> collect(std::string bytes) { return {std::move(bytes)}; }
  virtual void leave() {}                                              // together with all others
  virtual void abort(int exit_code) { static_cast<void>(exit_code); }  // and all others with it

 private:
  bool others_serve_ = false, ended_ = false;
};

// The ranks that the program was started as: by mpirun or another launcher, where it was built with
// SEMICRF_MPI; else one. Built without, it refuses to run as one of several (UsageError), which would all
// write the same files. Made at the first call.
Ranks& all_ranks();

// To be called by main before it returns `exit_code`; nothing where all_ranks() was not called.
void finish_ranks(int exit_code);

// Whether another process, rank 0, tells an error on the command line, which all of them have alike.
bool is_other_rank();

// Numbers as bytes between processes of one program on one kind of machine.
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
