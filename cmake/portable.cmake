# SEMICRF_PORTABLE: a program for other distributions than the one it is built on. It brings its libraries along, in lib/
# beside bin/ ($ORIGIN), but for those of the C and C++ compilers: what is newer in the C++ library is linked statically,
# and of glibc it needs the version that the build machine's symbols ask for (tests/package/portable.sh says which).
# spdlog and fmt are C++ libraries: as headers they do not ask for a C++ library either.
set(SEMICRF_FMT fmt::fmt-header-only)
set(SEMICRF_SPDLOG spdlog::spdlog_header_only)
set_target_properties(spdlog::spdlog_header_only PROPERTIES INTERFACE_LINK_LIBRARIES "Threads::Threads;fmt::fmt-header-only")
# DT_RPATH, not DT_RUNPATH: it also counts for the libraries that libraries need.
add_link_options(-static-libstdc++ -Wl,--disable-new-dtags)
set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib")
