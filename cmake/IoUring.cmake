# SPDX-License-Identifier: Apache-2.0
# Sets EDDY_HAS_IO_URING to 1 or 0 from the wish in EDDY_IO_URING and from what is there.

set(EDDY_HAS_IO_URING 0)

if(EDDY_IO_URING STREQUAL "AUTO" OR EDDY_IO_URING)
    list(PREPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
    find_package(liburing QUIET MODULE)
    list(POP_FRONT CMAKE_MODULE_PATH)

    if(liburing_FOUND)
        set(EDDY_HAS_IO_URING 1)
    elseif(NOT EDDY_IO_URING STREQUAL "AUTO")
        message(
            FATAL_ERROR
            "EDDY_IO_URING=${EDDY_IO_URING}, but liburing was not found. Install it "
            "(Debian: liburing-dev), or build without the engine: -DEDDY_IO_URING=OFF"
        )
    endif()
endif()

if(EDDY_HAS_IO_URING)
    message(STATUS "eddy: with the io_uring engine")
else()
    message(STATUS "eddy: without the io_uring engine")
endif()
