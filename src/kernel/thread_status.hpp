// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace eddy::kernel {

/// The beginning of /proc/THREAD/status, which has one line for each fact about a thread.
class thread_status {
public:
    /// Reads the status of `thread`, such as "self/task/123" or "thread-self".
    explicit thread_status(const char* thread) noexcept;

    /// The rest of the line that begins with `name` and a colon. Null if there is no such line, or
    /// if the thread has ended. Lifetime: the text belongs to this object.
    const char* field(const char* name) const& noexcept;
    const char* field(const char* name) const&& = delete;

private:
    char text_[4096] = {};
};

}  // namespace eddy::kernel
