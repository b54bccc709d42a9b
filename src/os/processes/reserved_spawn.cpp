// SPDX-License-Identifier: Apache-2.0

// Prepares a spawn, and makes the process later.
#include "os/processes/reserved_spawn.hpp"

#include "os/processes/process_registry.hpp"

#include <new>
#include <utility>

namespace eddy {

std::error_code reserved_spawn::reserve(loop& home, const process_options& options,
                                        spawn_step& failed) noexcept {
    failed = spawn_step::prepare;
    try {
        detail::process_registry::instance().reap_orphans();
        if (auto error = preparation_.prepare(home, options, failed)) {
            return error;
        }
        state_ = std::make_shared<detail::process_state>(home, options.label);
    } catch (const std::bad_alloc&) {
        return std::make_error_code(std::errc::not_enough_memory);
    }
    at_end_ = options.kill_group_on_destroy ? detail::last_handle::kills_group
              : options.kill_on_destroy     ? detail::last_handle::kills_it
                                            : detail::last_handle::leaves_it;
    return state_->reserve();
}

std::error_code reserved_spawn::spawn(process_handle& out, spawn_step& failed) noexcept {
    detail::process_registry& registry = detail::process_registry::instance();
    kernel::spawned process;
    registry.begin_spawn();
    const std::error_code error = kernel::spawn(preparation_.plan(), process, failed);
    if (!error) {
        out.close();
        state_->watch(std::move(process), at_end_);
    }
    registry.end_spawn();
    if (error) {
        return error;
    }
    out.state_ = std::move(state_);
    out.pipes_ = std::move(preparation_.pipes());
    failed = spawn_step::none;
    return {};
}

}  // namespace eddy
