// SPDX-License-Identifier: Apache-2.0

// Reads and searches a thread's status file in /proc.
#include "kernel/thread_status.hpp"

#include "kernel/io.hpp"

#include <eddy/base/unique_fd.hpp>

#include <cstdio>
#include <cstring>

#include <fcntl.h>

namespace eddy::kernel {

thread_status::thread_status(const char* thread) noexcept {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%.40s/status", thread);
    const unique_fd file(open(AT_FDCWD, path, O_RDONLY, 0, 0).fd());
    if (!file || !read(file.get(), text_, sizeof text_ - 1, -1)) {
        text_[0] = '\0';
    }
}

const char* thread_status::field(const char* name) const& noexcept {
    const std::size_t length = std::strlen(name);
    for (const char* line = text_; line != nullptr;) {
        if (std::strncmp(line, name, length) == 0 && line[length] == ':') {
            const char* const value = line + length + 1;
            return value + std::strspn(value, " \t");
        }
        line = std::strchr(line, '\n');
        line = line != nullptr ? line + 1 : nullptr;
    }
    return nullptr;
}

}  // namespace eddy::kernel
