# eddy_warnings(target): the warnings under which our own code is compiled. PRIVATE, so that they
# reach neither a parent project nor a user. They are errors only if EDDY_WERROR says so.
#
# -Wduplicated-cond makes g++ 12 crash on stdexec's headers.

function(eddy_warnings target)
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
            -Wnull-dereference
            -Wdouble-promotion
            -Wformat=2
            -Wundef
            -Wimplicit-fallthrough
            $<$<AND:$<CXX_COMPILER_ID:GNU>,$<NOT:$<STREQUAL:${EDDY_EXECUTION},stdexec>>>:-Wduplicated-cond>
            $<$<CXX_COMPILER_ID:GNU>:-Wlogical-op>
            $<$<CXX_COMPILER_ID:GNU>:-Wno-missing-field-initializers>
            $<$<CXX_COMPILER_ID:Clang>:-Wno-missing-designated-field-initializers>
            $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>
            $<$<BOOL:${EDDY_WERROR}>:-Werror>
    )
endfunction()
