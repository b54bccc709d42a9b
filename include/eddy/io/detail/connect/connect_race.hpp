// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/clock.hpp>
#include <eddy/base/config.hpp>
#include <eddy/base/error.hpp>
#include <eddy/io/address.hpp>
#include <eddy/loop/descriptor.hpp>
#include <eddy/loop/loop.hpp>
#include <eddy/loop/timer.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <system_error>
#include <vector>

namespace eddy::detail {

/// Orders addresses as RFC 8305 says: families take turns, that of the first address first.
EDDY_API std::vector<address> take_turns(std::span<const address> addresses);

/// Tries TCP connections to several addresses: the next one after a delay, or as soon as one has
/// failed. The first that succeeds ends the others.
///
///     running --a connection, or stop()--> ending: the others are cancelled
///     running --the last attempt has failed--> over
///     ending --no attempt is pending any more--> over
///
/// Thread: the loop's, except for the constructor.
class EDDY_API connect_race {
public:
    using callback = void (*)(connect_race&) noexcept;

    /// Throws std::bad_alloc.
    connect_race(loop& home, std::vector<address> to, duration delay, bool no_delay,
                 callback on_end);
    ~connect_race();
    connect_race(const connect_race&) = delete;
    connect_race& operator=(const connect_race&) = delete;

    /// Begins the first attempt. `on_end` is called once, perhaps before this returns.
    void start() noexcept;
    void stop() noexcept;

    // Results, valid when the race is over.

    bool stopped() const noexcept { return winner_ == nullptr && stopping_; }
    /// The most informative error, if there is no winner and no stop.
    std::error_code error() const noexcept { return error_; }
    /// The address of error(); empty if there were no addresses.
    const address& failed_at() const noexcept { return failed_at_; }
    bool has_winner() const noexcept { return winner_ != nullptr; }
    descriptor take_winner() noexcept;

private:
    struct attempt;

    void begin_next() noexcept;
    std::error_code open(attempt& a, const address& to) noexcept;
    void ended(attempt& a) noexcept;
    void failed(attempt& a) noexcept;
    void end_others() noexcept;
    void note(std::error_code error, const address& of) noexcept;
    bool ending() const noexcept { return winner_ != nullptr || stopping_; }

    static void on_attempt(io_operation& op) noexcept;
    static void on_delay(timer& t) noexcept;

    loop& home_;
    std::vector<address> to_;
    duration delay_;
    bool no_delay_;
    callback on_end_;
    timer timer_;
    std::unique_ptr<attempt[]> attempts_;
    std::size_t begun_ = 0;
    std::size_t pending_ = 0;
    attempt* winner_ = nullptr;
    std::error_code error_;
    address failed_at_;
    bool stopping_ = false;
    bool cancelling_ = false;
};

}  // namespace eddy::detail
