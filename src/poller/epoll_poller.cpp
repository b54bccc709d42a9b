// SPDX-License-Identifier: Apache-2.0

// Implements the poller on epoll.
#include "poller/epoll_poller.hpp"

#include "base/make_opened.hpp"

#include <algorithm>
#include <utility>

namespace eddy {

namespace {

epoll_event described(interest wanted, trigger how, std::uint64_t token) noexcept {
    epoll_event event{};
    event.events = static_cast<std::uint32_t>(wanted);
    if (how == trigger::edge) {
        event.events |= EPOLLET;
    } else if (how == trigger::one_shot) {
        event.events |= EPOLLONESHOT;
    } else if (how == trigger::exclusive) {
        event.events |= EPOLLET | EPOLLEXCLUSIVE;
    }
    event.data.u64 = token;
    return event;
}

}  // namespace

call_failure epoll_poller::open() noexcept {
    if (auto error = kernel::make_epoll(epoll_)) {
        return {error, "epoll_create1"};
    }
    if (auto error = kernel::make_eventfd(wake_)) {
        return {error, "eventfd"};
    }
    // Edge-triggered: each write is a new event, so the eventfd never has to be read.
    return {add(wake_.get(), interest::readable, trigger::edge, wake_token), "epoll_ctl"};
}

poller_traits epoll_poller::traits() const noexcept {
    return {.edge = true, .one_shot = true, .exclusive = true, .nests = true, .concurrent = true};
}

std::error_code epoll_poller::add(int fd, interest wanted, trigger how,
                                  std::uint64_t token) noexcept {
    if (how == trigger::level && !any(wanted)) {
        return {};
    }
    epoll_event event = described(wanted, how, token);
    return kernel::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
}

std::error_code epoll_poller::modify(int fd, interest wanted, trigger how,
                                     std::uint64_t token) noexcept {
    if (how == trigger::level && !any(wanted)) {
        remove(fd);
        return {};
    }
    epoll_event event = described(wanted, how, token);
    const auto error = kernel::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
    if (error == std::errc::no_such_file_or_directory) {
        // Without interest it was not in the set.
        return kernel::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
    }
    return error;
}

bool epoll_poller::remove(int fd) noexcept {
    epoll_event ignored{};
    // Fails if the fd was closed without remove(). The kernel has then removed the registration, or
    // keeps it for a duplicate, whose events carry a token that is no longer valid.
    return !kernel::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, &ignored);
}

bool epoll_poller::has(int fd, interest wanted, trigger how, std::uint64_t token) noexcept {
    epoll_event event = described(wanted, how, token);
    return kernel::is_in_epoll(epoll_.get(), fd, &event);
}

bool epoll_poller::readd(int fd, interest wanted, trigger how, std::uint64_t token) noexcept {
    // The kernel identifies a registration by number and open file. So the call cannot change
    // another file's registration, and fails if the number now belongs to another file.
    epoll_event event = described(wanted, how, token);
    const auto error = kernel::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
    if (error && error != std::errc::no_such_file_or_directory) {
        remove(fd);
    }
    return !error;
}

std::error_code epoll_poller::renew(function_ref<std::error_code()> add_all) noexcept {
    unique_fd other;
    if (auto error = kernel::make_epoll(other)) {
        return error;
    }
    std::swap(epoll_, other);
    auto error = add(wake_.get(), interest::readable, trigger::edge, wake_token);
    if (!error) {
        error = add_all();
    }
    if (error) {
        std::swap(epoll_, other);
    }
    return error;
}

io_result epoll_poller::wait(time_point until, std::span<poll_event> events, bool& woken) noexcept {
    std::array<epoll_event, 256> raw;
    const std::span room(raw.data(), std::min(raw.size(), events.size()));
    const io_result reported = wait_for(until, room);
    if (!reported) {
        return reported;
    }
    poll_event* next = events.data();
    for (const epoll_event& event : room.first(reported.count())) {
        if (event.data.u64 == wake_token) {
            woken = true;
        } else {
            *next++ = told(event);
        }
    }
    return io_result::value(next - events.data());
}

std::error_code make_epoll_poller(std::unique_ptr<poller>& out) noexcept {
    return make_opened<epoll_poller>(out, [](auto& made) { return made.open(); });
}

}  // namespace eddy
