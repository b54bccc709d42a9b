// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "os/processes/process_state.hpp"
#include "os/processes/spawn_preparation.hpp"

#include <eddy/os/process_handle.hpp>

#include <memory>
#include <system_error>

namespace eddy {

/// The two halves of a spawn. Lifetime: must not outlive the options.
class reserved_spawn {
public:
    std::error_code reserve(loop& home, const process_options& options,
                            spawn_step& failed) noexcept;
    /// Makes the process. Precondition: reserve() has succeeded, and this is the first call.
    std::error_code spawn(process_handle& out, spawn_step& failed) noexcept;

private:
    spawn_preparation preparation_;
    std::shared_ptr<detail::process_state> state_;
    detail::last_handle at_end_ = detail::last_handle::leaves_it;
};

}  // namespace eddy
