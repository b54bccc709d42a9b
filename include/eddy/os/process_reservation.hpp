// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/os/process_handle.hpp>

#include <memory>
#include <system_error>

namespace eddy {

/// A spawn of which all is done that can fail in this process: memory is allocated, strings are
/// copied, pipes and files are opened, and the loop has room to watch the process. For those who
/// must be able to start one when little else works, or who cannot afford to fail late.
///
/// Thread: the loop's, or any while the loop does not run. Must not outlive the loop.
class EDDY_API process_reservation {
public:
    process_reservation() noexcept;
    /// Throws std::system_error, which names the step.
    process_reservation(loop& home, const process_options& options);
    /// The same without exceptions. What `out` had is given up if it succeeds.
    static std::error_code make(loop& home, const process_options& options,
                                process_reservation& out, spawn_step* failed = nullptr) noexcept;
    process_reservation(process_reservation&& other) noexcept;
    process_reservation& operator=(process_reservation&& other) noexcept;
    ~process_reservation();

    explicit operator bool() const noexcept { return made_ != nullptr; }

    /// Makes the process, and uses the reservation up, whether it succeeds or not. Allocates
    /// nothing. What can fail: the kernel has no room for a process or its fd, or the program
    /// cannot be executed; no process is left then. `invalid_argument`: it is empty.
    std::error_code spawn(process_handle& out, spawn_step* failed = nullptr) noexcept;

private:
    struct reserved;
    std::unique_ptr<reserved> made_;
};

}  // namespace eddy
