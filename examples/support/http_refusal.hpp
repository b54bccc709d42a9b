#pragma once

#include <cstdio>
#include <string>
#include <system_error>

namespace example {

/// The status for a file that cannot be served: 404 only if the directory has no file of this name.
/// Everything else is a failure of ours, and is said on standard error. `error`: none, if there is
/// something of this name that is no file.
inline int http_refusal(const std::string& path, const std::error_code& error) {
    if (!error) return 404;
    for (const std::errc absent :
         {std::errc::no_such_file_or_directory, std::errc::not_a_directory,
          std::errc::cross_device_link, std::errc::filename_too_long, std::errc::invalid_argument,
          std::errc::no_such_device_or_address}) {
        if (error == absent) return 404;
    }
    std::fprintf(stderr, "cannot serve %s: %s\n", path.c_str(), error.message().c_str());
    for (const std::errc short_of :
         {std::errc::too_many_files_open, std::errc::too_many_files_open_in_system,
          std::errc::not_enough_memory, std::errc::no_buffer_space}) {
        if (error == short_of) return 503;
    }
    return 500;
}

}  // namespace example
