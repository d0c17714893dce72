# A layer is a folder: src/NAME/**.cc, public headers include/lockstep/NAME/, tests/NAME/*_test.cc.
include(GNUInstallDirs)
set(LOCKSTEP_LAYER_OBJECTS "")

function(lockstep_layer name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/src/${name}/*.cc")
  if(NOT sources)
    return()
  endif()
  set(layer lockstep_layer_${name})
  add_library(${layer} OBJECT ${sources})
  target_include_directories(${layer} PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}/include"
                             PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/src")
  target_compile_definitions(${layer} PRIVATE LOCKSTEP_VERSION="${PROJECT_VERSION}")
  target_link_libraries(${layer} PRIVATE lockstep_warnings lockstep_pjrt_headers fmt::fmt spdlog::spdlog
    nlohmann_json::nlohmann_json ZLIB::ZLIB OpenSSL::Crypto TBB::tbb Threads::Threads)
  set(LOCKSTEP_LAYER_OBJECTS ${LOCKSTEP_LAYER_OBJECTS} $<TARGET_OBJECTS:${layer}> PARENT_SCOPE)
endfunction()

# Folders are told only to the file that reads them: clones in other folders share the rest through ccache.
set_property(SOURCE "${CMAKE_CURRENT_SOURCE_DIR}/src/pjrt/discovery.cc" APPEND PROPERTY COMPILE_DEFINITIONS
  LOCKSTEP_BUILD_PJRT_DIR="${LOCKSTEP_PJRT_DIR}"
  LOCKSTEP_INSTALL_PJRT_DIR="${CMAKE_INSTALL_FULL_LIBDIR}/lockstep/pjrt")

# The library itself, of all layers.
function(lockstep_library)
  add_library(lockstep STATIC ${LOCKSTEP_LAYER_OBJECTS})
  add_library(Lockstep::lockstep ALIAS lockstep)
  target_include_directories(lockstep PUBLIC
    $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(lockstep PUBLIC cxx_std_20)
  target_link_libraries(lockstep PUBLIC fmt::fmt spdlog::spdlog ZLIB::ZLIB OpenSSL::Crypto TBB::tbb
    Threads::Threads ${CMAKE_DL_LIBS})
endfunction()

# One test program for each layer: tests/NAME/*_test.cc, linked with ARGN. Every TEST is a CTest of its own,
# which runs alone in its process; under sanitizers, where processes start slowly, the program is one.
function(lockstep_tests name)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/tests/${name}/*_test.cc")
  if(NOT sources)
    return()
  endif()
  set(program ${name}_tests)
  add_executable(${program} ${sources})
  target_include_directories(${program} PRIVATE "${CMAKE_SOURCE_DIR}/tests" "${CMAKE_SOURCE_DIR}/src")
  target_compile_definitions(${program} PRIVATE LOCKSTEP_TEST_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
    LOCKSTEP_TEST_PJRT_DIR="${LOCKSTEP_PJRT_DIR}" LOCKSTEP_TEST_BINARY_DIR="${CMAKE_BINARY_DIR}")
  target_link_libraries(${program} PRIVATE lockstep lockstep_warnings lockstep_pjrt_headers
    nlohmann_json::nlohmann_json GTest::gtest GTest::gmock GTest::gtest_main ${ARGN})
  target_precompile_headers(${program} PRIVATE <gtest/gtest.h> <gmock/gmock.h>)
  if(LOCKSTEP_SANITIZE)
    set(suppressions "${CMAKE_SOURCE_DIR}/tests/support/sanitizers")
    add_test(NAME ${name} COMMAND ${program} --gtest_brief=1)
    set_tests_properties(${name} PROPERTIES TIMEOUT 1200 ENVIRONMENT
      "LSAN_OPTIONS=suppressions=${suppressions}/leak.txt;TSAN_OPTIONS=suppressions=${suppressions}/thread.txt")
  else()
    gtest_discover_tests(${program} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300)
  endif()
endfunction()
