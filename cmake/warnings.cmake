# semicrf_options: the flags every target of ours is built with. Link it PRIVATE.
add_library(semicrf_options INTERFACE)
target_compile_options(semicrf_options INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wundef $<$<BOOL:${SEMICRF_WERROR}>:-Werror>)
# GCC's -Wconversion leaves signs alone, Clang's does not: indices are signed in many places, and a cast to size_t says nothing.
target_compile_options(semicrf_options INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,Clang,AppleClang>:-Wno-sign-conversion>)
# GCC 13 takes every reference that a function returns for one into a temporary argument of it; members of a JSON document are
# such references, and valid.
target_compile_options(semicrf_options INTERFACE
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,13>>:-Wno-dangling-reference>)
# GCC takes a source that another one includes for a header, in which unnamed namespaces would be a mistake.
if(SEMICRF_UNITY OR SEMICRF_SANITIZE)
  target_compile_options(semicrf_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()
# Processors whose baseline fuses multiplications and additions would give other bytes than x86-64, whose baseline does not.
# The kernels say themselves where they fuse.
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_options(semicrf_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
endif()
# What is compiled with sanitizers is so from here on: these flags stand before those of a target, which may take checks
# back.
if(SEMICRF_SANITIZE)
  add_compile_options(-fsanitize=${SEMICRF_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SEMICRF_SANITIZE})
  # Links some sixty programs of 50 MB in a third of the time that GNU ld takes.
  find_program(SEMICRF_LLD ld.lld)
  if(SEMICRF_LLD AND CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    add_link_options(-fuse-ld=lld)
  endif()
endif()

# With sanitizers, `level` of optimisation for a library whose loops are too slow to test without. The address sanitizer
# sees bad pointers, too: without the checks of the other one it compiles in half the time.
function(semicrf_optimise_sanitized library level)
  if(SEMICRF_SANITIZE)
    target_compile_options(${library} PRIVATE
      ${level} -fno-sanitize=null,alignment,object-size,pointer-overflow,vptr)
  endif()
endfunction()
