// SPDX-License-Identifier: Apache-2.0

// Adds handles to pollsets and removes them, and gives each fd number its slot.
#include "pollset/strategies/every_event.hpp"

#include "kernel/descriptor.hpp"
#include "kernel/event.hpp"

#include <eddy/base/error.hpp>

#include <algorithm>
#include <new>

#include <sys/epoll.h>

namespace eddy::detail {

std::error_code poll_core::add(pollset& set, poll_handle& h) noexcept {
    core_lock lock(*this);
    if (h.core_ != this) {
        return std::make_error_code(std::errc::invalid_argument);
    }
    if (h.orphaned_ || set.shut_down_) {
        return std::make_error_code(std::errc::operation_canceled);
    }
    if (const membership* const m = find(h, set); m != nullptr && m->added) {
        return std::make_error_code(std::errc::file_exists);
    }
    return join(set, h, &membership::added);
}

std::error_code poll_core::remove(pollset& set, poll_handle& h) {
    core_lock lock(*this);
    membership* const m = h.core_ == this ? find(h, set) : nullptr;
    if (m == nullptr || !m->added) {
        return std::make_error_code(std::errc::no_such_file_or_directory);
    }
    part(*m, &membership::added, lock);
    return {};
}

std::error_code poll_core::join(pollset& set, poll_handle& h, bool membership::* reason) noexcept {
    if (membership* const m = find(h, set)) {
        m->*reason = true;
        return {};
    }
    if (auto error = claim_slot(h)) {
        return error;
    }
    heed(h.priority_);
    auto* const m = new (std::nothrow) membership(h, set, h.priority_);
    std::error_code error = std::make_error_code(std::errc::not_enough_memory);
    if (m != nullptr) {
        m->*reason = true;
        link(*m);
        error = strategy_->join(*m);
    }
    if (error) {
        if (m != nullptr) {
            unlink(*m);
            delete m;
        }
        if (h.memberships_ == nullptr) {
            free_slot(h);
        }
        return error;
    }
    if (!h.due_.empty()) {
        queue(h, nullptr);
    }
    return {};
}

void poll_core::part(membership& m, bool membership::* reason, core_lock& lock) {
    m.*reason = false;
    if (m.wanted()) {
        return;
    }
    poll_handle& h = *m.handle;
    leave(m);
    run_unowned(h, lock);
}

void poll_core::leave(membership& m) noexcept {
    poll_handle& h = *m.handle;
    if (ready_queue::contains(m)) {
        m.set->ready_.erase(m);
    }
    strategy_->leave(m);
    unlink(m);
    delete &m;
    if (h.memberships_ == nullptr) {
        free_slot(h);
        for (poll_word& word : h.words_) {
            word.guard(true);  // the kernel no longer watches it
        }
    }
}

void poll_core::leave_all(poll_handle& h) noexcept {
    leave_sets(h);
    while (h.memberships_ != nullptr) {
        leave(*h.memberships_);
    }
}

void poll_core::leave_all(pollset& set, core_lock& lock) {
    leave_sets(set);
    while (set.memberships_ != nullptr) {
        poll_handle& h = *set.memberships_->handle;
        leave(*set.memberships_);
        run_unowned(h, lock);
    }
}

std::error_code poll_core::open(pollset& set) noexcept {
    core_lock lock(*this);
    return strategy_->open(set);
}

void poll_core::close(pollset& set) noexcept {
    core_lock lock(*this);
    EDDY_ASSERT(set.workers_ == nullptr, "a pollset is destroyed while a thread works on it");
    EDDY_ASSERT(set.timers_ == 0, "a pollset is destroyed before its timers");
    leave_all(set, lock);
    strategy_->close(set);
}

membership* poll_core::find(poll_handle& h, pollset& set) noexcept {
    membership* m = h.memberships_;
    while (m != nullptr && m->set != &set) {
        m = m->next_of_handle;
    }
    return m;
}

void poll_core::link(membership& m) noexcept {
    m.next_of_handle = std::exchange(m.handle->memberships_, &m);
    m.next_of_set = m.set->memberships_;
    if (m.next_of_set != nullptr) {
        m.next_of_set->prev_of_set = &m;
    }
    m.set->memberships_ = &m;
}

void poll_core::unlink(membership& m) noexcept {
    membership** of_handle = &m.handle->memberships_;
    while (*of_handle != &m) {
        of_handle = &(*of_handle)->next_of_handle;
    }
    *of_handle = m.next_of_handle;
    (m.prev_of_set != nullptr ? m.prev_of_set->next_of_set : m.set->memberships_) = m.next_of_set;
    if (m.next_of_set != nullptr) {
        m.next_of_set->prev_of_set = m.prev_of_set;
    }
}

std::error_code poll_core::refuse_signalfd(int fd) noexcept {
    bool is_signalfd = false;
    if (auto error = kernel::is_signalfd(fd, is_signalfd)) {
        return error;
    }
    return is_signalfd ? make_error_code(errc::signal_needs_loop) : std::error_code();
}

std::error_code poll_core::refuse_file(int fd) noexcept {
    kernel::file_facts facts;
    if (auto error = kernel::examine(fd, facts)) {
        return error;
    }
    if (facts.type == kernel::file_type::file) {
        return std::make_error_code(std::errc::operation_not_permitted);
    }
    if (facts.type != kernel::file_type::other || facts.identity == 0) {
        return {};
    }
    // Some devices can be waited for, and only epoll knows which.
    unique_fd probe;
    if (kernel::make_epoll(probe)) {
        return {};
    }
    epoll_event event{};
    const auto error = kernel::epoll_ctl(probe.get(), EPOLL_CTL_ADD, fd, &event);
    return error == std::errc::operation_not_permitted ? error : std::error_code();
}

std::error_code poll_core::claim_slot(poll_handle& h) noexcept try {
    if (h.in_slot_) {
        return {};
    }
    if (!h.fd_) {
        return std::make_error_code(std::errc::bad_file_descriptor);
    }
    const auto number = static_cast<std::size_t>(h.fd_.get());
    if (number >= slots_.size()) {
        slots_.resize(std::max(number + 1, slots_.size() * 2));
    }
    if (auto error = refuse_signalfd(h.fd_.get())) {
        return error;
    }
    slot& s = slots_[number];
    if (s.handle != nullptr) {
        return std::make_error_code(std::errc::file_exists);
    }
    s.handle = &h;
    h.generation_ = ++s.generation;
    h.in_slot_ = true;
    return {};
} catch (const std::bad_alloc&) {
    return std::make_error_code(std::errc::not_enough_memory);
}

void poll_core::free_slot(poll_handle& h) noexcept {
    if (std::exchange(h.in_slot_, false)) {
        slots_[static_cast<std::size_t>(h.fd_.get())].handle = nullptr;
    }
}

}  // namespace eddy::detail
