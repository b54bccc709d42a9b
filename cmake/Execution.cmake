# SPDX-License-Identifier: Apache-2.0
# Which std::execution vocabulary eddy's headers use: EDDY_EXECUTION is builtin, stdexec or std.
# The library is the same for all of them; only what its users compile differs.

set(EDDY_EXECUTION "builtin"
    CACHE STRING "The std::execution vocabulary: builtin, stdexec or std (see docs/ex.md)"
)
set_property(CACHE EDDY_EXECUTION PROPERTY STRINGS builtin stdexec std)

string(TOUPPER "EDDY_EXECUTION_${EDDY_EXECUTION}" eddy_execution_definition)

if(EDDY_EXECUTION STREQUAL "stdexec")
    list(PREPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
    find_package(stdexec MODULE REQUIRED QUIET)
    list(POP_FRONT CMAKE_MODULE_PATH)
elseif(EDDY_EXECUTION STREQUAL "std")
    include(CheckCXXSourceCompiles)
    set(CMAKE_REQUIRED_FLAGS ${CMAKE_CXX26_STANDARD_COMPILE_OPTION})
    check_cxx_source_compiles(
        "#include <execution>
        #include <stop_token>
        #include <thread>
        int main() {
            std::inplace_stop_source source;
            return std::get<0>(std::this_thread::sync_wait(std::execution::just(0)).value());
        }"
        EDDY_HAS_STD_EXECUTION
    )
    unset(CMAKE_REQUIRED_FLAGS)
    if(NOT EDDY_HAS_STD_EXECUTION)
        message(FATAL_ERROR "eddy: EDDY_EXECUTION=std, but the <execution> of this compiler has no senders. "
                            "Use builtin or stdexec."
        )
    endif()
elseif(NOT EDDY_EXECUTION STREQUAL "builtin")
    message(FATAL_ERROR "eddy: EDDY_EXECUTION=${EDDY_EXECUTION} is none of builtin, stdexec and std")
endif()

# eddy_execution(target): who links `target` compiles with the vocabulary.
function(eddy_execution target)
    target_compile_definitions(${target} INTERFACE ${eddy_execution_definition})
    if(EDDY_EXECUTION STREQUAL "stdexec")
        target_link_libraries(${target} INTERFACE STDEXEC::stdexec)
    elseif(EDDY_EXECUTION STREQUAL "std")
        target_compile_features(${target} INTERFACE cxx_std_26)
    endif()
endfunction()
