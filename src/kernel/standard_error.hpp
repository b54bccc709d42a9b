// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <sys/types.h>

namespace eddy::kernel {

/// The standard error that a process started with. A process may start without one; its descriptor
/// 2 is then whatever it opens first.
class standard_error {
public:
    /// Remembers what descriptor 2 is now.
    standard_error() noexcept;

    /// Writes a line, unless descriptor 2 was closed at the start or has since become another
    /// socket: that is a peer, who must not receive it. A file or pipe that the program has put in
    /// its place is a redirection, and receives the line. A line that would have to wait for room
    /// in a pipe is dropped. Never raises SIGPIPE.
    void write(std::string_view line) const noexcept;

private:
    bool still_ours() const noexcept;

    bool open_;
    dev_t device_ = 0;
    ino_t inode_ = 0;
};

}  // namespace eddy::kernel
