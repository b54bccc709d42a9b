// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/clock.hpp>
#include <eddy/ex/completion_signatures.hpp>
#include <eddy/ex/completions.hpp>
#include <eddy/ex/receiver.hpp>
#include <eddy/ex/sender.hpp>
#include <eddy/io/detail/connect/connect_race.hpp>
#include <eddy/io/detail/sender/error_subject.hpp>
#include <eddy/io/detail/sender/on_loop_state.hpp>
#include <eddy/io/loop_scheduler.hpp>
#include <eddy/io/tcp/connect_options.hpp>
#include <eddy/io/tcp/socket.hpp>

#include <chrono>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

namespace eddy::detail {
EDDY_EX_BEGIN

template <class Receiver>
class connect_any_state : public on_loop_state<connect_any_state<Receiver>, Receiver> {
    using base = on_loop_state<connect_any_state<Receiver>, Receiver>;

public:
    connect_any_state(loop& home, std::vector<address> to, duration delay,
                      tcp::connect_options options, Receiver receiver)
        : base(&home, std::move(receiver)),
          race_(home, std::move(to), delay, options.no_delay, &on_end) {}
    ~connect_any_state() { this->retire(); }

private:
    friend base;

    void begin() noexcept { race_.start(); }
    void stop() noexcept { race_.stop(); }
    void drop() noexcept {}

    static void on_end(connect_race& race) noexcept {
        auto& self = owner_of<&connect_any_state::race_>(race);
        if (race.has_winner()) {
            ex::set_value(self.end(), tcp::socket(race.take_winner()));
        } else if (race.stopped()) {
            ex::set_stopped(self.end());
        } else {
            const std::error_code error = race.error();
            const error_naming named(error, {"tcp::connect_any", race.failed_at()});
            ex::set_error(self.end(), error);
        }
    }

    connect_race race_;
};

class [[nodiscard]] connect_any_sender {
public:
    using sender_concept = ex::sender_tag;

    connect_any_sender(loop& home, std::vector<address> to, duration delay,
                       tcp::connect_options options) noexcept
        : home_(&home), to_(std::move(to)), delay_(delay), options_(options) {}

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() noexcept {
        return ex::completion_signatures<ex::set_value_t(tcp::socket),
                                         ex::set_error_t(std::error_code), ex::set_stopped_t()>();
    }
    /// Throws std::bad_alloc.
    template <ex::receiver Receiver>
    auto connect(Receiver receiver) && {
        return connect_any_state<Receiver>(*home_, std::move(to_), delay_, options_,
                                           std::move(receiver));
    }
    template <ex::receiver Receiver>
    auto connect(Receiver receiver) const& {
        return connect_any_state<Receiver>(*home_, to_, delay_, options_, std::move(receiver));
    }
    completes_on_loop get_env() const noexcept { return {loop_scheduler(home_)}; }
    template <class Self = connect_any_sender>
    affine_sender<Self> affine() && {
        return affine_sender<Self>(std::move(*this));
    }
    template <class Self = connect_any_sender>
    affine_sender<Self> affine() const& {
        return affine_sender<Self>(*this);
    }

private:
    loop* home_;
    std::vector<address> to_;
    duration delay_;
    tcp::connect_options options_;
};

EDDY_EX_END
}  // namespace eddy::detail

namespace eddy::tcp {
EDDY_EX_BEGIN

/// Connects to the first of a host's addresses that answers, as RFC 8305 says. Addresses are tried
/// one after the other, IPv4 and IPv6 in turns: the next one when `delay` has passed without an
/// answer, or as soon as an attempt has failed. The first connection wins; the other attempts are
/// cancelled and closed before this completes.
///
///     const address host[] = {address::from("[::1]:80"), address::from("127.0.0.1:80")};
///     tcp::socket peer = co_await tcp::connect_any(loop, host);
///
/// If all attempts fail, the error is that of the last one. An error that only says that this
/// machine has no such network does not replace another. Without addresses the error is
/// `invalid_argument`. Unlike other senders this one allocates, for copies of the addresses and for
/// the attempts.
inline auto connect_any(loop& home, std::span<const address> to,
                        duration delay = std::chrono::milliseconds(250),
                        connect_options options = {}) {
    return detail::connect_any_sender(home, detail::take_turns(to), delay, options);
}

EDDY_EX_END
}  // namespace eddy::tcp
