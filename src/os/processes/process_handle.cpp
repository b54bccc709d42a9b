// SPDX-License-Identifier: Apache-2.0

// Spawns and adopts processes, and implements their handles.
#include <eddy/os/process_handle.hpp>

#include "os/processes/process_registry.hpp"
#include "os/processes/process_state.hpp"
#include "os/processes/reserved_spawn.hpp"

#include <eddy/base/assert.hpp>
#include <eddy/base/error.hpp>

#include <new>
#include <string>

namespace eddy {

namespace {

using detail::process_registry;
using detail::process_state;

std::error_code no_memory() noexcept { return std::make_error_code(std::errc::not_enough_memory); }

const descriptor no_descriptor;

}  // namespace

process_handle::process_handle(loop& home, const process_options& options) {
    spawn_step failed = spawn_step::none;
    if (auto error = spawn(home, options, *this, &failed)) {
        throw std::system_error(
            error, "cannot spawn '" + options.program + "' (" + to_string(failed) + ")");
    }
}

std::error_code process_handle::spawn(loop& home, const process_options& options,
                                      process_handle& out, spawn_step* failed) noexcept {
    spawn_step unwanted = spawn_step::none;
    spawn_step& step = failed != nullptr ? *failed : unwanted;
    reserved_spawn parts;
    if (auto error = parts.reserve(home, options, step)) {
        return error;
    }
    return parts.spawn(out, step);
}

std::error_code process_handle::adopt(loop& home, pid_t pid, process_handle& out) noexcept {
    process_registry& registry = process_registry::instance();
    registry.reap_orphans();
    const std::lock_guard hold(registry.adopting());
    if (auto known = registry.find(pid)) {
        if (&known->home() != &home) {
            return errc::process_has_owner;
        }
        known->add_handle();
        out.close();
        out.state_ = std::move(known);
        return {};
    }
    try {
        const auto state = std::make_shared<process_state>(home, "adopted process");
        kernel::spawned process{.pid = pid, .pidfd = {}};
        if (auto error = kernel::open_pidfd(pid, process.pidfd)) {
            return error;
        }
        if (auto error = state->reserve()) {
            return error;
        }
        registry.drop_orphan(pid);
        out.close();
        state->watch(std::move(process), detail::last_handle::leaves_it);
        out.state_ = state;
    } catch (const std::bad_alloc&) {
        return no_memory();
    }
    return {};
}

process_handle process_handle::share() const noexcept {
    if (state_ != nullptr) {
        state_->add_handle();
    }
    return process_handle(state_);
}

void process_handle::close() noexcept {
    if (const auto state = std::move(state_)) {
        state_ = nullptr;
        state->drop_handle();
    }
    for (descriptor& pipe : pipes_) {
        pipe.close();
    }
}

pid_t process_handle::pid() const noexcept { return state_ != nullptr ? state_->pid() : -1; }

loop* process_handle::home() const noexcept {
    return state_ != nullptr ? &state_->home() : nullptr;
}

bool process_handle::is_child() const noexcept { return state_ != nullptr && state_->child(); }

const descriptor& process_handle::get_descriptor() const noexcept {
    return state_ != nullptr ? state_->ended() : no_descriptor;
}

descriptor& process_handle::stdio_pipe(int fd) noexcept {
    EDDY_ASSERT(fd >= 0 && fd <= 2, "the standard fds are 0, 1 and 2");
    return pipes_[static_cast<std::size_t>(fd)];
}

std::error_code process_handle::send_signal(int signal) const noexcept {
    if (state_ == nullptr) {
        return std::make_error_code(std::errc::bad_file_descriptor);
    }
    return kernel::signal_pidfd(state_->pidfd(), signal);
}

void process_handle::start(exit_wait& wait) noexcept {
    EDDY_ASSERT(!wait.pending(), "a wait was started that is pending already");
    EDDY_ASSERT(state_ != nullptr, "a wait was started on an empty process handle");
    wait.process_ = state_;
    wait.begin();
}

std::error_code detail::end_of(process_state& process, exit_status& out) noexcept {
    return process.end(out);
}

}  // namespace eddy
