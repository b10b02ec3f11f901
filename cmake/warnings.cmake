# semicrf_options: the flags every target of ours is built with. Link it PRIVATE.
add_library(semicrf_options INTERFACE)
target_compile_options(semicrf_options INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wundef $<$<BOOL:${SEMICRF_WERROR}>:-Werror>)
if(SEMICRF_SANITIZE)
  target_compile_options(semicrf_options INTERFACE
    -fsanitize=${SEMICRF_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(semicrf_options INTERFACE -fsanitize=${SEMICRF_SANITIZE})
endif()
