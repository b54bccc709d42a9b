# SPDX-License-Identifier: Apache-2.0
# How the tests of a room are built and registered. Used by tests/CMakeLists.txt.

set(EDDY_TEST_TIMEOUT_S 120)

# What ./test --full needs beside `all`.
if(NOT TARGET eddy_full_tests)
    add_custom_target(eddy_full_tests)
endif()

# The library eddy_test_support: tests/support/*.cpp, or only its include directory.
function(eddy_test_support)
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/support/*.cpp)
    if(sources)
        add_library(eddy_test_support STATIC ${sources})
        set(scope PUBLIC)
        eddy_warnings(eddy_test_support)
        set_target_properties(eddy_test_support PROPERTIES CXX_EXTENSIONS OFF)
    else()
        add_library(eddy_test_support INTERFACE)
        set(scope INTERFACE)
    endif()
    target_include_directories(eddy_test_support ${scope} ${PROJECT_SOURCE_DIR}/tests)
    target_link_libraries(eddy_test_support ${scope} eddy_internals GTest::gmock)
endfunction()

# eddy_discover_tests(PROGRAM ROOM): registers the suites of a program, with labels for ROOM. ctest
# asks the program for them when it starts (tests/runner/discover.cmake). With FULL behind ROOM, they
# are for ./test --full, and the program is built only by the target eddy_full_tests.
function(eddy_discover_tests program room)
    if("FULL" IN_LIST ARGN)
        set(tier full)
        add_dependencies(eddy_full_tests ${program})
        set_target_properties(${program} PROPERTIES EXCLUDE_FROM_ALL ON)
    else()
        set(tier "")
    endif()
    set(file ${CMAKE_CURRENT_BINARY_DIR}/${program}_suites.cmake)
    file(
        GENERATE
        OUTPUT ${file}
        CONTENT
            "set(program \"$<TARGET_FILE:${program}>\")
set(room ${room})
set(tier \"${tier}\")
set(runner \"${PROJECT_SOURCE_DIR}/tests/runner/run_suite.py\")
set(results \"${PROJECT_BINARY_DIR}/test-cases/${room}\")
include(\"${PROJECT_SOURCE_DIR}/tests/runner/discover.cmake\")
"
    )
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${file})
endfunction()

# eddy_room_tests(ROOM): the program eddy_ROOM_tests. Twelve files are compiled at a time, because the
# headers and the templates that they share cost more than the tests themselves; so each file has a
# namespace of its own. Files that are not tests, such as replacements of operator new, stay alone.
function(eddy_room_tests room)
    set(program eddy_${room}_tests)
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${room}/*.cpp)
    add_executable(${program} ${sources})
    target_link_libraries(${program} PRIVATE eddy_test_support GTest::gtest_main)
    set_target_properties(
        ${program} PROPERTIES CXX_EXTENSIONS OFF UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12
    )
    list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
    set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    eddy_warnings(${program})
    # A unity source includes the tests, so the compiler takes them for headers in that warning.
    target_compile_options(
        ${program}
        PRIVATE ${EDDY_TEST_OPTIMIZATION} $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>
    )
    eddy_discover_tests(${program} ${room})
endfunction()

# Programs that must not compile, tests/ROOM/compile_fail/*.cpp: each names in its first line the
# words that the compiler must say. Those of `ex`, and those named behind ROOM, are told so by the
# built-in vocabulary only. Those called gcc_... are for g++ 12.
function(eddy_room_mistakes room)
    file(GLOB mistakes CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${room}/compile_fail/*.cpp)
    foreach(mistake IN LISTS mistakes)
        get_filename_component(name ${mistake} NAME_WE)
        if(NOT EDDY_EXECUTION STREQUAL "builtin" AND (room STREQUAL "ex" OR name IN_LIST ARGN))
            continue()
        endif()
        if(name MATCHES "^gcc_" AND NOT "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
                                        MATCHES "^GNU 12\\."
        )
            continue()
        endif()
        set(test CompileFail.${room}.${name})
        add_test(
            NAME ${test}
            COMMAND ${PROJECT_SOURCE_DIR}/tests/support/expect_mistake.sh ${mistake}
                    ${CMAKE_CXX_COMPILER} @${EDDY_MISTAKES}.flags -include ${EDDY_MISTAKES}.hpp
        )
        set_tests_properties(${test} PROPERTIES LABELS ${room} TIMEOUT ${EDDY_TEST_TIMEOUT_S})
    endforeach()
endfunction()

# eddy_mistakes_header(): the header that all mistakes include first, and their flags. g++ and clang
# find the precompiled header beside it; another compiler reads the text.
set(EDDY_MISTAKES ${PROJECT_BINARY_DIR}/mistakes/mistakes)
function(eddy_mistakes_header)
    set(of $<TARGET_PROPERTY:eddy_io_tests,)
    file(
        GENERATE
        OUTPUT ${EDDY_MISTAKES}.flags
        CONTENT
            "-std=c++20\n-D$<JOIN:${of}COMPILE_DEFINITIONS>,\n-D>\n-I$<JOIN:${of}INCLUDE_DIRECTORIES>,\n-I>\n"
    )
    set(header ${EDDY_MISTAKES}.hpp)
    file(
        CONFIGURE
        OUTPUT ${header}
        CONTENT "#include <eddy/async/async.hpp>\n#include <eddy/io/io.hpp>\n"
    )
    if(NOT CMAKE_CXX_COMPILER_ID MATCHES "^(GNU|Clang)$")
        return()
    endif()
    add_custom_command(
        OUTPUT ${header}.gch
        COMMAND ${CMAKE_CXX_COMPILER} @${EDDY_MISTAKES}.flags -MD -MF ${header}.d -MT ${header}.gch -x
                c++-header ${header} -o ${header}.gch
        DEPENDS ${header} ${EDDY_MISTAKES}.flags
        DEPFILE ${header}.d
        COMMENT "Precompiling the header of the mistakes"
        VERBATIM
    )
    add_custom_target(eddy_mistakes ALL DEPENDS ${header}.gch)
endfunction()
