// What a caller of the C interface gives of a sequence, as the rooms below want it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analyses/posteriors/posterior_sweep.h"
#include "core/segment.h"
#include "engine/boundary_state.h"
#include "inputs/piece_source.h"
#include "inputs/statements/constraint_file.h"
#include "io/arrays/npy_reader.h"
#include "io/text/chromosomes.h"
#include "library/model_handle.h"
#include "library/semicrf.h"

namespace semicrf {

// The array where it lies, if its values follow each other, by rows or by columns; else a copy. `what`: its
// name in messages. UsageError: no rows or columns, an unknown type.
NpyArray viewed(const semicrf_array& array, const std::string& what);

// The name of sequence number `index` in messages.
std::string sequence_name(const semicrf_sequence& sequence, std::size_t index);

// The scores of a whole sequence; arrays are used where they lie, if they can be. Reads them once where
// centring asks for a mean, or tracks may lack values. UsageError: a shape that does not fit; InputError: a
// value that is none, or is missing.
std::shared_ptr<SequenceScores> open_sequence(const LibraryModel& model, const semicrf_sequence& sequence,
                                              const std::string& name, Precision precision, int threads);

// The constraints of the sequence, or null where it has none. UsageError: a label or range that is none.
std::shared_ptr<ConstraintSet> constraints_of(const semicrf_sequence& sequence, const LibraryModel& model,
                                              const std::string& name);

// The segmentation that was given; empty: none was. UsageError: it does not tile the sequence.
std::vector<Segment> given_segments(const semicrf_sequence& sequence, int num_labels,
                                    const std::string& name);

// UsageError unless an array on a device has this shape, at least one row, and C order.
template <class Array>
void check_device_rows(const Array& array, std::int64_t rows, std::int64_t columns, const std::string& what);

// UsageError where an array of posteriors has not its shape.
void check_outputs(const semicrf_sequence& sequence, int num_labels, const std::string& name);
void write_posteriors(const PosteriorBlock& block, const semicrf_sequence& sequence);

}  // namespace semicrf
