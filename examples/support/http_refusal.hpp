// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/printable.hpp"

#include <cstdio>
#include <string>
#include <system_error>

namespace example {

/// Returns the status for a file that cannot be served. `error` is empty if the name exists, but
/// not as a file.
///
/// 404 means that the directory has no file of this name, and nothing else. Other errors, except
/// for bad names, are failures of the server, and are printed on standard error.
inline int http_refusal(const std::string& path, const std::error_code& error) {
    if (path.find('\0') != path.npos) return 400;  // no file can have this name
    if (!error) return 404;
    for (const std::errc absent : {
             std::errc::no_such_file_or_directory,
             std::errc::not_a_directory,            // "file/name"
             std::errc::filename_too_long,          // the file system cannot have such a file
             std::errc::cross_device_link,          // it leads out of the directory
             std::errc::no_such_device_or_address,  // a socket
         }) {
        if (error == absent) return 404;
    }
    std::fprintf(stderr, "cannot serve %s: %s\n", printable(path).c_str(), error.message().c_str());
    for (const std::errc short_of :
         {std::errc::too_many_files_open, std::errc::too_many_files_open_in_system,
          std::errc::not_enough_memory, std::errc::no_buffer_space}) {
        if (error == short_of) return 503;
    }
    return 500;
}

}  // namespace example
