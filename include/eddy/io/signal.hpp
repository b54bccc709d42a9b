#pragma once

#include <eddy/base/member.hpp>
#include <eddy/ex/completion_signatures.hpp>
#include <eddy/ex/completions.hpp>
#include <eddy/ex/detail/stop_callback.hpp>
#include <eddy/ex/receiver.hpp>
#include <eddy/ex/sender.hpp>
#include <eddy/io/detail/on_loop_state.hpp>
#include <eddy/io/loop_scheduler.hpp>
#include <eddy/os/signal_source.hpp>

#include <system_error>
#include <utility>

namespace eddy::detail {
EDDY_EX_BEGIN

template <class Receiver>
class signal_wait_state : public on_loop_state<signal_wait_state<Receiver>, Receiver> {
    using base = on_loop_state<signal_wait_state<Receiver>, Receiver>;

public:
    signal_wait_state(signal_source& source, signal_set signals, priority_level priority,
                      Receiver receiver) noexcept
        : base(&source.home(), std::move(receiver)),
          source_(source),
          signals_(signals),
          wait_(&on_complete, &wanted) {
        wait_.set_priority(priority);
    }
    ~signal_wait_state() { this->retire(); }

private:
    friend base;

    void begin() noexcept {
        if (const std::error_code error = source_.wait(wait_, signals_)) {
            ex::set_error(this->end(), error);
        }
    }
    void stop() noexcept {
        wait_.cancel();
        ex::set_stopped(this->end());
    }
    void drop() noexcept {}

    /// A stop that was asked for arrives through the loop; no signal is taken meanwhile.
    static bool wanted(const signal_wait& w) noexcept {
        return !of(const_cast<signal_wait&>(w)).wants_to_stop();
    }
    static void on_complete(signal_wait& w) noexcept {
        auto& self = of(w);
        if (!w.error()) {
            ex::set_value(self.end(), signal_info(w.info()));
        } else if (w.loop_ends()) {
            ex::set_stopped(self.end());
        } else {
            ex::set_error(self.end(), w.error());
        }
    }
    static signal_wait_state& of(signal_wait& w) noexcept {
        return owner_of<&signal_wait_state::wait_>(w);
    }

    signal_source& source_;
    signal_set signals_;
    signal_wait wait_;
};

class [[nodiscard]] signal_wait_sender {
public:
    using sender_concept = ex::sender_tag;

    signal_wait_sender(signal_source& source, signal_set signals, priority_level priority) noexcept
        : source_(&source), signals_(signals), priority_(priority) {}

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() noexcept {
        return ex::completion_signatures<ex::set_value_t(signal_info),
                                         ex::set_error_t(std::error_code), ex::set_stopped_t()>();
    }
    template <ex::receiver Receiver>
    auto connect(Receiver receiver) const noexcept {
        return signal_wait_state<Receiver>(*source_, signals_, priority_, std::move(receiver));
    }
    completes_on_loop get_env() const noexcept { return {loop_scheduler(&source_->home())}; }
    /// For coroutines that want to stay on their loop: it completes there anyway.
    signal_wait_sender affine() const noexcept { return *this; }

private:
    signal_source* source_;
    signal_set signals_;
    priority_level priority_;
};

EDDY_EX_END
}  // namespace eddy::detail

namespace eddy {
EDDY_EX_BEGIN

/// The next signal of one of these numbers, as a signal_info. Completes on the loop of `source`,
/// wherever it is started; errc::signal_not_attached if `source` does not have all of them,
/// `operation_canceled` if they are detached meanwhile; stopped if that was asked for or the loop
/// ends. Whoever was asked to stop takes no signal any more: it goes to the next who waits, or
/// stays in the kernel.
///
///     signal_info info = co_await wait_any_signal(signals, {SIGHUP, SIGUSR1});
///
/// The rest as for signal_source::wait(). Lifetime: `source` must live until it has completed.
inline detail::signal_wait_sender wait_any_signal(
    signal_source& source, signal_set signals,
    priority_level priority = default_priority) noexcept {
    return {source, signals, priority};
}

/// The next signal of this number. Throws std::system_error: there is none of this number.
///
///     signal_info info = co_await timeout(wait_signal(signals, SIGHUP), 5s);
inline detail::signal_wait_sender wait_signal(signal_source& source, int signum,
                                              priority_level priority = default_priority) {
    return {source, signal_set{signum}, priority};
}

EDDY_EX_END
}  // namespace eddy
