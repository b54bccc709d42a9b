// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/detail/member.hpp>
#include <eddy/ex/completion_signatures.hpp>
#include <eddy/ex/completions.hpp>
#include <eddy/ex/let_value.hpp>
#include <eddy/ex/receiver.hpp>
#include <eddy/ex/sender.hpp>
#include <eddy/ex/then.hpp>
#include <eddy/io/detail/sender/on_loop_state.hpp>
#include <eddy/io/loop_scheduler.hpp>
#include <eddy/loop/detail/bandwidth_share.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace eddy::detail {
EDDY_EX_BEGIN

template <class Receiver>
class turn_state : public on_loop_state<turn_state<Receiver>, Receiver> {
    using base = on_loop_state<turn_state<Receiver>, Receiver>;

public:
    turn_state(bandwidth_share& share, Receiver receiver) noexcept
        : base(&share.home(), std::move(receiver)), share_(share), wait_(&on_turn) {}
    ~turn_state() { this->retire(); }

private:
    friend base;

    void begin() noexcept { share_.wait(wait_); }
    void stop() noexcept {
        wait_.cancel();
        ex::set_stopped(this->end());
    }
    void drop() noexcept {}

    static void on_turn(turn_wait& w) noexcept {
        ex::set_value(owner_of<&turn_state::wait_>(w).end());
    }

    bandwidth_share& share_;
    turn_wait wait_;
};

class [[nodiscard]] turn_sender {
public:
    using sender_concept = ex::sender_tag;

    explicit turn_sender(bandwidth_share& share) noexcept : share_(&share) {}

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() noexcept {
        return ex::completion_signatures<ex::set_value_t(), ex::set_stopped_t()>();
    }
    template <ex::receiver Receiver>
    auto connect(Receiver receiver) const noexcept {
        return turn_state<Receiver>(*share_, std::move(receiver));
    }
    completes_on_loop get_env() const noexcept { return {loop_scheduler(&share_->home())}; }

private:
    bandwidth_share* share_;
};

EDDY_EX_END
}  // namespace eddy::detail

namespace eddy {
EDDY_EX_BEGIN

/// Runs `sender` when it is the turn of `share`, and counts the bytes that it moves. `sender` must
/// run on the loop of the share, and send the number of bytes.
///
///     bandwidth_share share(group, 3);
///     while (std::size_t n = co_await in_turn(socket.read_some(buffer), share)) { ... }
///
/// Completes as `sender` does, or as stopped if a stop is requested while it waits for its turn. A
/// sender that has to wait for data or room in its turn blocks no other share, and is the next to
/// run when there is some. Lifetime: `share` must live until completion.
template <ex::sender Sender>
auto in_turn(Sender&& sender, bandwidth_share& share) {
    return ex::let_value(detail::turn_sender(share),
                         [run = std::decay_t<Sender>(static_cast<Sender&&>(sender))]() mutable {
                             return std::move(run);
                         }) |
           ex::then([&share](std::size_t bytes) noexcept {
               share.moved(bytes);
               return bytes;
           });
}

EDDY_EX_END
}  // namespace eddy
