# Refuses a compiler or a processor on which the core cannot work, in one sentence, before anything is compiled.
# It reads only these variables, so that `cmake -D... -P` can try any machine:
#   CMAKE_CXX_COMPILER_ID, CMAKE_CXX_COMPILER_VERSION, CMAKE_SIZEOF_VOID_P, CMAKE_CXX_BYTE_ORDER
# docs/inside/decisions/0042-compilers.md says which versions were tried.
set(neardup_compilers "GCC 12 or newer, or Clang 14 or newer")
set(neardup_least_GNU 12)
set(neardup_least_Clang 14)
set(neardup_least ${neardup_least_${CMAKE_CXX_COMPILER_ID}})
set(neardup_found "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")

if(CMAKE_CXX_COMPILER_ID STREQUAL "MSVC")
  message(FATAL_ERROR "neardup does not build with ${neardup_found}: its kernels need attributes of GCC and Clang. "
                      "Use ${neardup_compilers}, on Linux or macOS.")
elseif(neardup_least AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS neardup_least)
  message(FATAL_ERROR "neardup does not build with ${neardup_found}. Install ${neardup_compilers}, "
                      "and name it: CXX=g++-12 or CXX=clang++-14.")
elseif(NOT neardup_least)
  message(STATUS "neardup was never tried with ${neardup_found}; ${neardup_compilers} works")
endif()

if(NOT CMAKE_SIZEOF_VOID_P EQUAL 8)
  math(EXPR neardup_bits "8 * ${CMAKE_SIZEOF_VOID_P}")
  message(FATAL_ERROR "neardup does not work on a ${neardup_bits}-bit machine: its codes and files need 64-bit numbers and addresses. "
                      "Build it for a 64-bit one, such as x86-64 or arm64, with a 64-bit Python.")
endif()
if(CMAKE_CXX_BYTE_ORDER STREQUAL "BIG_ENDIAN")
  message(FATAL_ERROR "neardup does not work on a big-endian machine: its fingerprints and files are little-endian. "
                      "Build it for a little-endian one, such as x86-64 or arm64.")
endif()
