// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/config.hpp>
#include <eddy/os/process_handle.hpp>

#include <memory>
#include <system_error>

namespace eddy {

/// A spawn for which everything is done that can fail in this process: memory is allocated, strings
/// are copied, pipes and files are opened, and the loop has room to watch the process. It serves
/// programs that must start a process when little else works, or that cannot afford to fail late.
///
/// Thread: the loop's, or any while the loop does not run. Must not outlive the loop.
class EDDY_API process_reservation {
public:
    process_reservation() noexcept;
    /// Reserves a spawn. Throws std::system_error, which names the failed step.
    process_reservation(loop& home, const process_options& options);
    /// Reserves a spawn without exceptions. Success gives up what `out` had reserved.
    static std::error_code make(loop& home, const process_options& options,
                                process_reservation& out, spawn_step* failed = nullptr) noexcept;
    process_reservation(process_reservation&& other) noexcept;
    process_reservation& operator=(process_reservation&& other) noexcept;
    ~process_reservation();

    explicit operator bool() const noexcept { return made_ != nullptr; }

    /// Makes the process, and uses the reservation up even if that fails. Allocates nothing. It
    /// fails if the kernel has no room for a process or its fd, or if the program cannot be
    /// executed; then no process is left. `invalid_argument` if the reservation is empty.
    std::error_code spawn(process_handle& out, spawn_step* failed = nullptr) noexcept;

private:
    struct reserved;
    std::unique_ptr<reserved> made_;
};

}  // namespace eddy
