// SPDX-License-Identifier: Apache-2.0

// Checks for a fork, then leaves the work on a pollset to the core of its domain.
#include <eddy/pollset/pollset.hpp>

#include "pollset/core/poll_core.hpp"

#include <eddy/base/error.hpp>

namespace eddy {

pollset::pollset(poll_domain& domain) : core_(domain.core_.get()) {
    if (core_->forked()) {
        throw std::system_error(make_error_code(errc::forked), "pollset");
    }
    if (auto error = core_->open(*this)) {
        throw std::system_error(error, "pollset");
    }
}

pollset::~pollset() {
    if (!core_->forked()) {
        core_->close(*this);
    }
}

std::error_code pollset::add(poll_handle& handle) noexcept {
    return core_->forked() ? make_error_code(errc::forked) : core_->add(*this, handle);
}

std::error_code pollset::remove(poll_handle& handle) noexcept {
    return core_->forked() ? make_error_code(errc::forked) : core_->remove(*this, handle);
}

result<work_end> pollset::work(const detail::lent_lock& lock, pollset_worker& worker,
                               time_point deadline) {
    if (core_->forked()) {
        return make_error_code(errc::forked);
    }
    return core_->work(*this, lock, worker, deadline);
}

std::error_code pollset::kick(pollset_worker& worker) noexcept {
    return core_->forked() ? make_error_code(errc::forked) : core_->kick(*this, worker);
}

void pollset::kick_any() noexcept {
    if (!core_->forked()) {
        core_->kick_any(*this);
    }
}

std::size_t pollset::wake(std::size_t count) noexcept {
    return core_->forked() ? 0 : core_->wake(*this, count);
}

void pollset::shutdown(closure& done) noexcept {
    if (core_->forked()) {
        done.run();  // no other thread is here; the registrations are the parent's
    } else {
        core_->shutdown(*this, done);
    }
}

const char* to_string(work_end e) noexcept {
    switch (e) {
        case work_end::ran:
            return "ran";
        case work_end::kicked:
            return "kicked";
        case work_end::timed_out:
            return "timed_out";
        case work_end::shut_down:
            return "shut_down";
    }
    return "unknown";
}

}  // namespace eddy
