#include "library/status.h"

#include <cstring>
#include <new>

namespace semicrf {
namespace {

semicrf_status told(semicrf_status status, const char* text, semicrf_error* error) {
  if (error == nullptr) return status;
  std::strncpy(error->text, text, sizeof error->text - 1);
  error->text[sizeof error->text - 1] = '\0';
  return status;
}

}  // namespace

semicrf_status status_of_exception(semicrf_error* error) noexcept {
  try {
    throw;
  } catch (const Error& found) {
    return told(static_cast<semicrf_status>(found.code()), found.what(), error);
  } catch (const std::bad_alloc&) {
    return told(SEMICRF_OUT_OF_MEMORY, "the system has no memory left", error);
  } catch (const std::exception& found) {
    return told(SEMICRF_INTERNAL, found.what(), error);
  } catch (...) {
    return told(SEMICRF_INTERNAL, "an unknown exception", error);
  }
}

void require(const void* pointer, const char* name) {
  if (pointer == nullptr) throw UsageError(std::string(name) + " is a null pointer", "");
}

}  // namespace semicrf

const char* semicrf_version(void) { return SEMICRF_VERSION; }
