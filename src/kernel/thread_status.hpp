// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace eddy::kernel {

/// The beginning of /proc/THREAD/status, which has a line for each thing that the kernel tells of a
/// thread.
class thread_status {
public:
    /// Reads "self/task/123" or "thread-self".
    explicit thread_status(const char* thread) noexcept;

    /// The rest of the line that begins with `name` and a colon. Null: there is no such line, or no
    /// such thread any more. Lifetime: the text is in this object.
    const char* field(const char* name) const& noexcept;
    const char* field(const char* name) const&& = delete;

private:
    char text_[4096] = {};
};

}  // namespace eddy::kernel
