// SPDX-License-Identifier: Apache-2.0

// Attaches fds to a loop, and releases or closes them.
#include <eddy/loop/descriptor.hpp>

#include "engine/engine.hpp"

#include <eddy/loop/loop.hpp>

#include <cstdio>
#include <string>

namespace eddy {

inline void descriptor::take(loop& home, fd_slot& slot) noexcept {
    home_ = &home;
    slot_ = &slot;
    generation_ = slot.generation;
    kind_ = slot.kind;
}

descriptor::descriptor(loop& home, unique_fd fd, descriptor_options options) {
    if (auto error = attach(home, fd, *this, options)) {
        throw std::system_error(error, "cannot attach fd " + std::to_string(fd.get()));
    }
}

std::error_code descriptor::attach(loop& home, unique_fd& fd, descriptor& out,
                                   descriptor_options options) noexcept {
    const auto error =
        attach(home, fd.get(), out,
               {.kind = options.kind, .name = options.name, .nonblocking = options.nonblocking});
    if (!error) {
        static_cast<void>(fd.release());
    }
    return error;
}

std::error_code descriptor::attach_to_watch(loop& home, int fd, descriptor& out,
                                            const char* name) noexcept {
    return attach(home, fd, out, {.name = name, .nonblocking = true, .only_waits = true});
}

std::error_code descriptor::attach(loop& home, int fd, descriptor& out,
                                   const attach_options& options) noexcept {
    home.check_use();
    fd_slot* slot = nullptr;
    if (auto error = home.engine_->attach(fd, options, slot)) {
        return error;
    }
    out.clear();
    out.take(home, *slot);
    return {};
}

bool descriptor::attach_again(loop& home, int fd, const char* name) noexcept {
    home.check_use();
    fd_slot* const slot = home.engine_->attach_again(fd, name);
    if (slot == nullptr) {
        return false;
    }
    take(home, *slot);
    return true;
}

inline bool descriptor::attached() const noexcept {
    return slot_ != nullptr && slot_->generation == generation_ && !slot_->detaching;
}

int descriptor::native_handle() const noexcept { return attached() ? slot_->fd : -1; }

/// Fails an assertion that names the descriptor, its loop and the thread that closes it, because
/// the loop's own thread may be using it.
void descriptor::closed_elsewhere() const noexcept {
    for (const loop* running = loop::current(); running != nullptr; running = running->outer_) {
        if (running == home_) {
            return;  // closed inside a loop that a callback of this one runs
        }
    }
    const loop* const here = loop::current();
    char message[300];
    std::snprintf(message, sizeof message,
                  "fd %d ('%s') of the loop '%s', which another thread is running, was closed or "
                  "destroyed by a thread that runs %s%s%s: post that to the loop, or let it stop "
                  "first",
                  slot_->fd, slot_->name != nullptr ? slot_->name : "", home_->options_.name,
                  here != nullptr ? "the loop '" : "no loop",
                  here != nullptr ? here->options_.name : "", here != nullptr ? "'" : "");
    detail::assertion_failed("the loop's thread closes its descriptors", message, __FILE__,
                             __LINE__);
}

void descriptor::close() noexcept {
    if (attached()) {
        if (home_->lost_by_fork()) {
            home_->engine_->abandon(*slot_);
        } else {
            // relaxed: this only looks for misuse, and has nothing to pair with.
            if (!home_->on_thread() && home_->running_.load(std::memory_order_relaxed)) {
                closed_elsewhere();
            }
            home_->attend();
            home_->engine_->detach(*slot_, detach_how::close, nullptr);
        }
    }
    home_ = nullptr;
    slot_ = nullptr;
}

std::error_code descriptor::release(unique_fd& out) noexcept {
    const int fd = native_handle();
    if (fd < 0) {
        return std::make_error_code(std::errc::bad_file_descriptor);
    }
    home_->check_use();
    home_->attend();
    if (auto error = home_->engine_->release(*slot_)) {
        return error;
    }
    home_ = nullptr;
    slot_ = nullptr;
    out.reset(fd);
    return {};
}

void descriptor::give_back() noexcept {
    if (attached()) {
        home_->check_use();
        home_->attend();
        home_->engine_->give_back(*slot_);
    }
    home_ = nullptr;
    slot_ = nullptr;
}

}  // namespace eddy
