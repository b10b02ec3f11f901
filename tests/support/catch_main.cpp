// Catch2 2 wants its main in one file; Catch2 3 brings it in a library.
#if !SEMICRF_CATCH2_V3
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif
