# SPDX-License-Identifier: Apache-2.0
# Read by ctest when it starts, with `program`, `room` and `tier` set: asks a test program for its cases and
# registers one ctest test per suite, "ROOM: SUITE". run_suite.py runs the cases of a suite in one
# process. A program that cannot be asked is a failed test, not a failed build.
#
# EDDY_TEST_PATTERN in the environment keeps only the cases whose full name matches it, and the suites
# that have such cases.
#
# Names carry meaning:
#   Long...          runs only under ./test --long
#   Full...          runs only under ./test --full
#   ...NoTsan        is left out under TSan, and ...NoAsan under ASan; a single case may say so too

set(case_limit_s 120)

# register_suite(SUITE CASES): a case that a sanitizer leaves out becomes a test of its own.
function(register_suite suite cases)
    foreach(case IN LISTS cases)
        if(case MATCHES "No[AT]san(/|$)")
            list(REMOVE_ITEM cases ${case})
            register("${room}: ${suite}.${case}" ${suite} ${case})
        endif()
    endforeach()
    if(cases)
        register("${room}: ${suite}" ${suite} "${cases}")
    endif()
endfunction()

function(register name suite cases)
    set(labels ${room} ${tier})
    set(limit_s ${case_limit_s})
    if(suite MATCHES "^(.*/)?Long[^/]*$")
        list(APPEND labels long)
        set(limit_s 1800)
    elseif(suite MATCHES "^(.*/)?Full[^/]*$")
        list(APPEND labels full)
    endif()
    if(name MATCHES "NoTsan([./]|$)")
        list(APPEND labels no-tsan)
    endif()
    if(name MATCHES "NoAsan([./]|$)")
        list(APPEND labels no-asan)
    endif()
    string(REGEX REPLACE "^[^ ]* " "" file "${name}")
    string(REPLACE "/" "+" file "${file}")
    set(file ${results}/${file}.jsonl)
    add_test("${name}" ${runner} --limit ${limit_s} --results ${file} ${program} ${suite} ${cases})
    # The runner has a time limit for each case, so ctest needs none for the suite.
    set_tests_properties("${name}" PROPERTIES LABELS "${labels}" TIMEOUT 86400)
endfunction()

if(tier STREQUAL "full" AND NOT EXISTS ${program})
    return() # not built: ./test --full was not asked for
endif()

execute_process(
    COMMAND ${program} --gtest_list_tests
    OUTPUT_VARIABLE listed
    ERROR_VARIABLE complaint
    RESULT_VARIABLE code
    TIMEOUT 60
)
if(NOT code EQUAL 0)
    add_test("${room}: ${program} does not start (${code}): ${complaint}" ${program} --gtest_list_tests)
    return()
endif()

# Lines of suites end in a dot, lines of cases are indented, and "  # ..." follows what has a parameter.
string(REGEX REPLACE " *#[^\n]*" "" listed "${listed}")
string(REPLACE "\n" ";" lines "${listed}")
set(suite "")
set(cases "")
foreach(line IN LISTS lines)
    if(line MATCHES "^([^ ].*)\\.$")
        set(next_suite ${CMAKE_MATCH_1})
        register_suite("${suite}" "${cases}")
        set(suite ${next_suite})
        set(cases "")
    elseif(line MATCHES "^  ([^ ]+)$")
        set(case ${CMAKE_MATCH_1})
        if("$ENV{EDDY_TEST_PATTERN}" STREQUAL "" OR "${suite}.${case}" MATCHES "$ENV{EDDY_TEST_PATTERN}")
            list(APPEND cases ${case})
        endif()
    endif()
endforeach()
register_suite("${suite}" "${cases}")
