// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/detail/member.hpp>
#include <eddy/ex/completion_signatures.hpp>
#include <eddy/ex/completions.hpp>
#include <eddy/ex/receiver.hpp>
#include <eddy/ex/sender.hpp>
#include <eddy/io/detail/sender/on_loop_state.hpp>
#include <eddy/io/loop_scheduler.hpp>

#include <system_error>
#include <utility>

namespace eddy::detail {
EDDY_EX_BEGIN

/// A wait at a source of the room `os`. `What` is copied, and has:
///
///     using wait = ...;                               // what the source takes
///     using value = ...;
///     loop& home() const noexcept;
///     std::error_code start(wait&) const noexcept;    // on the loop's thread
///     static const value& result(const wait&) noexcept;
template <class What, class Receiver>
class source_wait_state : public on_loop_state<source_wait_state<What, Receiver>, Receiver> {
    using base = on_loop_state<source_wait_state<What, Receiver>, Receiver>;
    using wait_type = typename What::wait;

public:
    source_wait_state(What what, priority_level priority, Receiver receiver) noexcept
        : base(&what.home(), std::move(receiver)),
          what_(std::move(what)),
          wait_(&on_complete, &wanted) {
        wait_.set_priority(priority);
    }
    ~source_wait_state() { this->retire(); }

private:
    friend base;

    void begin() noexcept {
        if (const std::error_code error = what_.start(wait_)) {
            ex::set_error(this->end(), error);
        }
    }
    void stop() noexcept {
        wait_.cancel();
        ex::set_stopped(this->end());
    }
    void drop() noexcept {}

    /// False once a stop was requested. The stop itself arrives later, through the loop.
    static bool wanted(const wait_type& w) noexcept {
        return !of(const_cast<wait_type&>(w)).wants_to_stop();
    }
    static void on_complete(wait_type& w) noexcept {
        auto& self = of(w);
        if (!w.error()) {
            ex::set_value(self.end(), typename What::value(What::result(w)));
        } else if (w.loop_ends()) {
            ex::set_stopped(self.end());
        } else {
            ex::set_error(self.end(), w.error());
        }
    }
    static source_wait_state& of(wait_type& w) noexcept {
        return owner_of<&source_wait_state::wait_>(w);
    }

    What what_;
    wait_type wait_;
};

template <class What>
class [[nodiscard]] source_wait_sender {
public:
    using sender_concept = ex::sender_tag;

    source_wait_sender(What what, priority_level priority) noexcept
        : what_(std::move(what)), priority_(priority) {}

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() noexcept {
        return ex::completion_signatures<ex::set_value_t(typename What::value),
                                         ex::set_error_t(std::error_code), ex::set_stopped_t()>();
    }
    template <ex::receiver Receiver>
    auto connect(Receiver receiver) const noexcept {
        return source_wait_state<What, Receiver>(what_, priority_, std::move(receiver));
    }
    completes_on_loop get_env() const noexcept { return {loop_scheduler(&what_.home())}; }
    /// Returns a sender that completes where it is started, without a hop if that is this loop.
    template <class Self = source_wait_sender>
    affine_sender<Self> affine() const {
        return affine_sender<Self>(*this);
    }

private:
    What what_;
    priority_level priority_;
};

EDDY_EX_END
}  // namespace eddy::detail
