// SPDX-License-Identifier: Apache-2.0

// Checks for a fork, then leaves the work on a handle to the core of its domain.
#include <eddy/pollset/poll_handle.hpp>

#include "pollset/strategies/every_event.hpp"

#include <eddy/base/error.hpp>

namespace eddy {

poll_handle::poll_handle(poll_domain& domain, unique_fd fd, poll_handle_options options) noexcept
    : poll_handle(*domain.core_, std::move(fd), options) {}

poll_handle::poll_handle(detail::poll_core& core, unique_fd fd,
                         poll_handle_options options) noexcept
    : core_(&core), fd_(std::move(fd)), priority_(options.priority) {
    EDDY_ASSERT(priority_ < priority_count, "a priority is 0 to 63");
}

poll_handle::~poll_handle() {
    EDDY_ASSERT(core_->forked() || orphaned_ || (memberships_ == nullptr && bags_.empty()),
                "a poll_handle is destroyed inside a pollset: orphan() it first");
}

int poll_handle::fd() const noexcept { return core_->forked() ? fd_.get() : core_->fd_of(*this); }

std::error_code poll_handle::notify_on_read(closure& done) noexcept {
    return notify_on(poll_event_kind::read, done);
}

std::error_code poll_handle::notify_on_write(closure& done) noexcept {
    return notify_on(poll_event_kind::write, done);
}

std::error_code poll_handle::notify_on_error(closure& done) noexcept {
    return notify_on(poll_event_kind::error, done);
}

std::error_code poll_handle::notify_on(poll_event_kind kind, closure& done) noexcept {
    if (core_->forked()) {
        return errc::forked;
    }
    return core_->notify_on(*this, kind, done);
}

bool poll_handle::cancel(closure& done) noexcept {
    return !core_->forked() && core_->cancel(*this, done);
}

void poll_handle::make_ready(poll_event_kind kind) noexcept {
    if (!core_->forked()) {
        core_->make_ready(*this, kind);
    }
}

void poll_handle::shutdown(std::error_code why) noexcept {
    if (!core_->forked()) {
        core_->shutdown(*this, why);
    }
}

bool poll_handle::is_shut_down() const noexcept {
    return core_->forked() ? shut_down_ : core_->is_shut_down(*this);
}

void poll_handle::orphan(closure& done) noexcept {
    if (core_->forked()) {
        orphaned_ = true;
        fd_.reset();
        done.run();
    } else {
        core_->orphan(*this, done, nullptr);
    }
}

unique_fd poll_handle::release(closure& done) noexcept {
    unique_fd released;
    if (core_->forked()) {
        // A thread that this process does not have may hold the lock. The parent shares the poller,
        // and its registrations must stay.
        orphaned_ = true;
        released = std::move(fd_);
        done.run();
    } else {
        core_->orphan(*this, done, &released);
    }
    return released;
}

}  // namespace eddy
