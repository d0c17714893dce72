# What the library rests on. Debian packages are found, the plugins and headers are fetched once into
# LOCKSTEP_PJRT_DIR by scripts/fetch_pjrt.sh (pinned by version and hash in scripts/pjrt-requirements.txt).
find_package(Threads REQUIRED)
foreach(package fmt spdlog nlohmann_json CLI11 TBB ZLIB OpenSSL)
  find_package(${package} QUIET)
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "${package} was not found. `make setup` installs what Lockstep needs "
                        "(the list: scripts/debian-packages.txt).")
  endif()
endforeach()

set(LOCKSTEP_PJRT_DIR "${CMAKE_BINARY_DIR}/pjrt" CACHE PATH
  "Folder of the fetched PJRT plugins and headers")
execute_process(
  COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/scripts/fetch_pjrt.sh" "${LOCKSTEP_PJRT_DIR}"
  RESULT_VARIABLE fetch_status)
if(NOT fetch_status EQUAL 0)
  message(FATAL_ERROR "The PJRT plugins and headers could not be fetched into ${LOCKSTEP_PJRT_DIR}; "
                      "the lines above say why.")
endif()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  "${CMAKE_CURRENT_SOURCE_DIR}/scripts/pjrt-requirements.txt")

# Headers of the PJRT C API and of XLA's FFI; used by src/pjrt and by tests, never by public headers.
add_library(lockstep_pjrt_headers INTERFACE)
target_include_directories(lockstep_pjrt_headers SYSTEM INTERFACE "${LOCKSTEP_PJRT_DIR}/include")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # With -Wpedantic GCC 12 refuses, even in system headers, that the API table's fields bear the names
  # of their types; -fpermissive makes that a warning, which system headers do not show. In own code
  # such warnings stay errors (-Werror).
  target_compile_options(lockstep_pjrt_headers INTERFACE -fpermissive)
endif()
