# How the tests of a room are built and registered. Used by tests/CMakeLists.txt.
#
# Names carry meaning (cmake/Labels.cmake):
#   a suite whose name starts with Long    runs only under ./test --long
#   a suite whose name ends with NoTsan    is left out under TSan, NoAsan under ASan

set(EDDY_TEST_TIMEOUT_S 120)

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

# eddy_discover_tests(PROGRAM ROOM): registers the tests of a program, with labels for ROOM.
function(eddy_discover_tests program room)
    # The programs are asked for their tests by ctest, not by the build: one that cannot start is a
    # failed test then, not a failed build.
    gtest_discover_tests(
        ${program}
        NO_PRETTY_VALUES
        NO_PRETTY_TYPES
        DISCOVERY_MODE PRE_TEST
        DISCOVERY_TIMEOUT 60
        WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}
        PROPERTIES TIMEOUT ${EDDY_TEST_TIMEOUT_S}
    )

    set(labels_file ${CMAKE_CURRENT_BINARY_DIR}/${program}_labels.cmake)
    file(
        CONFIGURE
        OUTPUT ${labels_file}
        CONTENT
            "set(room @room@)\nset(tests \${@program@_TESTS})\ninclude(@PROJECT_SOURCE_DIR@/cmake/Labels.cmake)\n"
        @ONLY
    )
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${labels_file})
endfunction()

function(eddy_room_tests room)
    set(program eddy_${room}_tests)
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${room}/*.cpp)
    add_executable(${program} ${sources})
    target_link_libraries(${program} PRIVATE eddy_test_support GTest::gtest_main)
    set_target_properties(${program} PROPERTIES CXX_EXTENSIONS OFF)
    eddy_warnings(${program})
    eddy_discover_tests(${program} ${room})
endfunction()

# Programs that must not compile, tests/ROOM/compile_fail/*.cpp: each names in its first line the
# words that the compiler must say. Those of `ex`, and those named behind ROOM, are told so by the
# built-in vocabulary only.
function(eddy_room_mistakes room)
    file(GLOB mistakes CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${room}/compile_fail/*.cpp)
    set(of $<TARGET_PROPERTY:eddy_${room}_tests,)
    foreach(mistake IN LISTS mistakes)
        get_filename_component(name ${mistake} NAME_WE)
        if(NOT EDDY_EXECUTION STREQUAL "builtin" AND (room STREQUAL "ex" OR name IN_LIST ARGN))
            continue()
        endif()
        set(test CompileFail.${room}.${name})
        add_test(
            NAME ${test}
            COMMAND
                ${PROJECT_SOURCE_DIR}/tests/support/expect_mistake.sh ${mistake}
                ${CMAKE_CXX_COMPILER} -std=c++20 "-D$<JOIN:${of}COMPILE_DEFINITIONS>,;-D>"
                "-I$<JOIN:${of}INCLUDE_DIRECTORIES>,;-I>"
            COMMAND_EXPAND_LISTS
        )
        set_tests_properties(${test} PROPERTIES LABELS ${room} TIMEOUT ${EDDY_TEST_TIMEOUT_S})
    endforeach()
endfunction()
