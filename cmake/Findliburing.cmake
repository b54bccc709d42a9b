# SPDX-License-Identifier: Apache-2.0
# Finds liburing and defines liburing::liburing. Installed with eddy, because a static libeddy asks
# its users to link it.

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
    pkg_check_modules(PC_LIBURING QUIET liburing)
endif()

find_path(LIBURING_INCLUDE_DIR liburing.h HINTS ${PC_LIBURING_INCLUDE_DIRS})
find_library(LIBURING_LIBRARY uring HINTS ${PC_LIBURING_LIBRARY_DIRS})
mark_as_advanced(LIBURING_INCLUDE_DIR LIBURING_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
    liburing
    REQUIRED_VARS LIBURING_LIBRARY LIBURING_INCLUDE_DIR
    VERSION_VAR PC_LIBURING_VERSION
)

if(liburing_FOUND AND NOT TARGET liburing::liburing)
    add_library(liburing::liburing UNKNOWN IMPORTED)
    set_target_properties(
        liburing::liburing
        PROPERTIES
            IMPORTED_LOCATION ${LIBURING_LIBRARY}
            INTERFACE_INCLUDE_DIRECTORIES ${LIBURING_INCLUDE_DIR}
    )
endif()
