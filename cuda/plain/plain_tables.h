// The arrays of the plain CUDA engine: device memory, row-major, natural logarithms in double, -inf forbids.
// Letters are those of docs/algorithm.md, names those of src/reference.
//
// The room: plain/ is the recursion as a CUDA programmer would first write it, with an engine around it. It
// includes device/, core/ and engine/, and nothing of the fast engine.
#pragma once

#include <cstdint>

namespace semicrf::cuda {

// The chain and the scores of one sequence.
struct PlainSequence {
  std::int64_t length = 0;          // T
  int labels = 0;                   // C
  int max_duration = 0;             // K
  bool initial_transition = false;  // the first segment gets the sum over c' of T[c',c]
  double* transition = nullptr;     // (C, C), [from][to]
  double* duration = nullptr;       // (K, C), row k-1: B[k,c]
  double* log_tail = nullptr;       // (C): log q of the tail beyond K; null: no label has one
  double* emission = nullptr;       // (T, C): fbar, centred
  double* start = nullptr;          // (T, C): Ps, with pi_start in row 0
  double* end = nullptr;            // (T, C): Pe, with pi_end in row T-1
  double* typical_step = nullptr;   // (T): the largest emission of a position, a whole number
};

// Messages are relative to a whole number per boundary, their level, so that they keep their digits along a
// sequence: true message = level[t] + entry.
struct PlainForward {
  double* level = nullptr;    // (T+1)
  double* alpha = nullptr;    // (T+1, C): all segmentations of [0, t) whose last label is c
  double* gamma = nullptr;    // (T, C): all before a segment of c that starts at t, and its start score
  double* tail = nullptr;     // (T+1, C): open segments of c longer than K at t; null: there is no tail
  double* largest = nullptr;  // (C): the largest message of each label at the boundary at hand
};

struct PlainBackward {
  double* level = nullptr;  // (T+1)
  double* beta = nullptr;   // (T+1, C): all right of t, given that a segment of c ended there
  double* delta = nullptr;  // (T, C): a segment of c that starts at t without its start score, and all after
  double* tail = nullptr;  // (T+1, C): a segment of c longer than K that reaches t, and all after; null: none
  double* largest = nullptr;  // (C)
};

// A BoundaryState (engine/boundary_state.h) but for its offset, which is the boundary's level.
struct PlainState {
  double* ring = nullptr;     // (K, C)
  double* message = nullptr;  // (C)
  double* tail = nullptr;     // (C); null: there is no tail
};

// log Z = level + log_mass; `level` is a whole number.
struct PlainLogPartition {
  double level = 0;
  double log_mass = 0;
};

}  // namespace semicrf::cuda
