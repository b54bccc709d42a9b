# SPDX-License-Identifier: Apache-2.0
# eddy_warnings(target): the warnings under which our own code is compiled. PRIVATE, so that they
# reach neither a parent project nor a user. They are errors only if EDDY_WERROR says so.
#
# With stdexec g++ 12 goes without three of them: -Wduplicated-cond makes it crash on those headers,
# -Wnull-dereference and -Wmaybe-uninitialized find fault with what it inlines of them. Under a
# sanitizer it goes without the last of these too; the plain build has them all.

function(eddy_warnings target)
    set(gnu_with_stdexec
        $<AND:$<CXX_COMPILER_ID:GNU>,$<STREQUAL:${EDDY_EXECUTION},stdexec>>
    )
    set(without_false_alarms "")
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU"
       AND (CMAKE_CXX_FLAGS MATCHES "-fsanitize" OR EDDY_EXECUTION STREQUAL "stdexec")
    )
        set(without_false_alarms -Wno-maybe-uninitialized)
    endif()
    target_compile_options(
        ${target}
        PRIVATE
            -Wall
            -Wextra
            -Wpedantic
            -Wshadow
            -Wconversion
            -Wsign-conversion
            -Wnon-virtual-dtor
            -Wold-style-cast
            -Woverloaded-virtual
            -Wcast-align
            -Wcast-qual
            -Wdouble-promotion
            -Wformat=2
            -Wundef
            -Wimplicit-fallthrough
            $<$<NOT:${gnu_with_stdexec}>:-Wnull-dereference>
            $<$<AND:$<CXX_COMPILER_ID:GNU>,$<NOT:${gnu_with_stdexec}>>:-Wduplicated-cond>
            $<$<CXX_COMPILER_ID:GNU>:-Wlogical-op>
            $<$<CXX_COMPILER_ID:GNU>:-Wno-missing-field-initializers>
            ${without_false_alarms}
            $<$<CXX_COMPILER_ID:Clang>:-Wno-missing-designated-field-initializers>
            $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>
            $<$<BOOL:${EDDY_WERROR}>:-Werror>
    )
endfunction()
