# SPDX-License-Identifier: Apache-2.0
# Finds NVIDIA/stdexec and defines STDEXEC::stdexec: from STDEXEC_INCLUDE_DIR, or else from its CMake
# package. Installed with an eddy whose vocabulary it is, because the users of that need it too.

set(STDEXEC_INCLUDE_DIR "" CACHE PATH "Where <stdexec/execution.hpp> is, if it is no CMake package")

if(STDEXEC_INCLUDE_DIR)
    set(stdexec_where STDEXEC_INCLUDE_DIR)
    set(stdexec_advice "STDEXEC_INCLUDE_DIR=${STDEXEC_INCLUDE_DIR} has no stdexec/execution.hpp")
    if(NOT EXISTS ${STDEXEC_INCLUDE_DIR}/stdexec/execution.hpp)
        set(stdexec_where stdexec_NOWHERE)
    elseif(NOT TARGET STDEXEC::stdexec)
        find_package(Threads QUIET)
        add_library(STDEXEC::stdexec INTERFACE IMPORTED)
        set_target_properties(
            STDEXEC::stdexec
            PROPERTIES
                INTERFACE_INCLUDE_DIRECTORIES ${STDEXEC_INCLUDE_DIR}
                INTERFACE_LINK_LIBRARIES Threads::Threads
        )
    endif()
else()
    find_package(stdexec CONFIG QUIET)
    set(stdexec_where stdexec_DIR)
    set(stdexec_advice "There is no CMake package stdexec: give -DSTDEXEC_INCLUDE_DIR=, "
                       "the directory include/ of NVIDIA/stdexec"
    )
endif()

include(FindPackageHandleStandardArgs)
string(CONCAT stdexec_advice ${stdexec_advice})
find_package_handle_standard_args(
    stdexec
    REQUIRED_VARS ${stdexec_where}
    REASON_FAILURE_MESSAGE "eddy speaks the vocabulary of stdexec. ${stdexec_advice}"
)
