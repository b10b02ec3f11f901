// Standard input, and pipes that a shell opened for the program, as files that can be read again and mapped.
#pragma once

#include <string>

namespace semicrf {

// A path by which `path` can be opened several times: for "-" and for an open descriptor that is a pipe
// (/dev/stdin, or <(command) of a shell) that of a file without a name in the system's folder for temporary
// files, which the first call fills; else `path` itself. Thread-safe. ReadError, WriteError: it cannot be
// read or kept.
std::string kept_input(const std::string& path);

// The path that kept_input(path) gave before where it kept something, else an empty string: who reads once
// needs no copy, but finds nothing more where one was made.
std::string path_of_kept(const std::string& path);

}  // namespace semicrf
