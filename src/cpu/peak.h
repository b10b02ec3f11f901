// The limits the kernels are measured against, measured on this processor.
#pragma once

namespace semicrf {

// Pairs of single-precision operations per second of one thread, out of registers, with the best instruction
// set: an addition and a maximum (max semiring), or one fused (where there is one) multiplication and
// addition (log semiring). Each takes about a fifth of a second; the best of several runs.
double measure_add_max_peak();
double measure_multiply_add_peak();

}  // namespace semicrf
