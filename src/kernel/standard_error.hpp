// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <sys/types.h>

namespace eddy::kernel {

/// The standard error that the process started with. A process that starts without one may open
/// anything as descriptor 2.
class standard_error {
public:
    /// Remembers the file behind descriptor 2.
    standard_error() noexcept;

    /// Writes a line, unless descriptor 2 was closed at the start or has since become another
    /// socket, whose peer must not receive the line. A file or pipe in its place is a redirection
    /// and receives the line. A line is dropped if it would have to wait for room in a pipe. Never
    /// raises SIGPIPE.
    void write(std::string_view line) const noexcept;

private:
    bool still_ours() const noexcept;

    bool open_;
    dev_t device_ = 0;
    ino_t inode_ = 0;
};

}  // namespace eddy::kernel
