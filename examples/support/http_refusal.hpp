// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/printable.hpp"

#include <cstdio>
#include <string>
#include <system_error>

namespace example {

/// The status for a file that cannot be served. `error`: none, if there is something of this name
/// that is no file.
///
/// 404 says that the directory has no file of this name, and is for just that. Everything else but
/// a bad name is a failure of ours, and is said on standard error.
inline int http_refusal(const std::string& path, const std::error_code& error) {
    if (path.find('\0') != path.npos) return 400;  // it can be the name of nothing
    if (!error) return 404;
    for (const std::errc absent : {
             std::errc::no_such_file_or_directory,
             std::errc::not_a_directory,    // "file/name"
             std::errc::filename_too_long,  // for the file system: it cannot have such a file
             std::errc::cross_device_link,  // it leads out, and is none of this directory's
             std::errc::no_such_device_or_address,  // a socket, which is no file
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
