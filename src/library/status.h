// What becomes of errors at the edge of the C interface.
#pragma once

#include <string>

#include "core/error.h"
#include "library/semicrf.h"

namespace semicrf {

// Inside a catch block: the status of the exception, and its text for the caller.
semicrf_status status_of_exception(semicrf_error* error) noexcept;

// UsageError where the pointer is null.
void require(const void* pointer, const char* name);

// The status of `body`, whose exceptions end here.
template <class Body>
semicrf_status guarded(semicrf_error* error, Body body) noexcept {
  if (error != nullptr) error->text[0] = '\0';
  try {
    body();
    return SEMICRF_OK;
  } catch (...) {
    return status_of_exception(error);
  }
}

}  // namespace semicrf
