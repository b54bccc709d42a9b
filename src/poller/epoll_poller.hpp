// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/call_failure.hpp"
#include "kernel/event.hpp"
#include "poller/poller.hpp"

#include <eddy/base/unique_fd.hpp>

#include <cstdint>
#include <span>
#include <system_error>

#include <sys/epoll.h>

namespace eddy {

/// The epoll poller that make_epoll_poller() makes.
class epoll_poller final : public poller {
public:
    /// The token with which wake() is reported. No registration has it.
    static constexpr std::uint64_t wake_token = UINT64_MAX;

    call_failure open() noexcept;

    poller_traits traits() const noexcept override;
    std::error_code add(int fd, interest wanted, trigger how,
                        std::uint64_t token) noexcept override;
    std::error_code modify(int fd, interest wanted, trigger how,
                           std::uint64_t token) noexcept override;
    bool remove(int fd) noexcept override;
    bool has(int fd, interest wanted, trigger how, std::uint64_t token) noexcept override;
    bool readd(int fd, interest wanted, trigger how, std::uint64_t token) noexcept override;
    std::error_code renew(function_ref<std::error_code()> add_all) noexcept override;
    io_result wait(time_point until, std::span<poll_event> events, bool& woken) noexcept override;
    void wake() noexcept override { kernel::signal_eventfd(wake_.get()); }
    int native_handle() const noexcept override { return epoll_.get(); }

    /// The inlined part of wait(), for callers that go through the kernel's events themselves. The
    /// events include that of wake().
    [[gnu::always_inline]] io_result wait_for(time_point until,
                                              std::span<epoll_event> events) const noexcept {
        return kernel::epoll_wait(epoll_.get(), events, until);
    }
    static poll_event told(const epoll_event& event) noexcept {
        return {event.data.u64, static_cast<interest>(event.events)};
    }

private:
    unique_fd epoll_;
    unique_fd wake_;
};

}  // namespace eddy
