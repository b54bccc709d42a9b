// SPDX-License-Identifier: Apache-2.0

// Checks for a fork, then leaves the work on a set to the core of its domain.
#include <eddy/pollset/pollset_set.hpp>

#include "pollset/core/poll_core.hpp"

#include <eddy/base/error.hpp>

namespace eddy {

namespace {

template <class Member>
std::error_code unless_forked(detail::poll_core& core, pollset_set& bag, Member& member,
                              std::error_code (detail::poll_core::*act)(pollset_set&, Member&)) {
    return core.forked() ? make_error_code(errc::forked) : (core.*act)(bag, member);
}

}  // namespace

pollset_set::pollset_set(poll_domain& domain) : core_(domain.core_.get()) {
    if (auto error = core_->forked() ? make_error_code(errc::forked) : core_->open(*this)) {
        throw std::system_error(error, "pollset_set");
    }
}

pollset_set::~pollset_set() {
    if (!core_->forked()) {
        core_->close(*this);
    }
}

std::error_code pollset_set::add(poll_handle& handle) noexcept {
    return unless_forked(*core_, *this, handle, &detail::poll_core::add);
}
std::error_code pollset_set::add(pollset& set) noexcept {
    return unless_forked(*core_, *this, set, &detail::poll_core::add);
}
std::error_code pollset_set::add(pollset_set& item) noexcept {
    return unless_forked(*core_, *this, item, &detail::poll_core::add);
}
std::error_code pollset_set::remove(poll_handle& handle) noexcept {
    return unless_forked(*core_, *this, handle, &detail::poll_core::remove);
}
std::error_code pollset_set::remove(pollset& set) noexcept {
    return unless_forked(*core_, *this, set, &detail::poll_core::remove);
}
std::error_code pollset_set::remove(pollset_set& item) noexcept {
    return unless_forked(*core_, *this, item, &detail::poll_core::remove);
}

}  // namespace eddy
