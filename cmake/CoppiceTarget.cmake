# What every target of coppice has in common: include root, warnings, sanitizers.
function(coppice_target target)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
                                           $<$<BOOL:${COPPICE_WERROR}>:-Werror>)
  # GCC 12 sees overlapping memory in "literal" + std::string at -O2 and above (GCC bug 105651).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-restrict)
  endif()
  if(COPPICE_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${COPPICE_SANITIZE} -fno-sanitize-recover=all
                                             -fno-omit-frame-pointer
                                             # GCC's manual: more false positives under sanitizers (here: <regex>).
                                             $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
    target_link_options(${target} PUBLIC -fsanitize=${COPPICE_SANITIZE})
  endif()
endfunction()
