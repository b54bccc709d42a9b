// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/completion_signatures.hpp>
#include <eddy/ex/completions.hpp>
#include <eddy/ex/receiver.hpp>
#include <eddy/ex/sender.hpp>
#include <eddy/io/detail/ahead/ahead_queue.hpp>
#include <eddy/io/detail/sender/on_loop_state.hpp>
#include <eddy/io/loop_scheduler.hpp>

#include <system_error>
#include <utility>

namespace eddy::detail {
EDDY_EX_BEGIN

template <class Source, class Convert, class Receiver>
class next_ahead_state
    : public on_loop_state<next_ahead_state<Source, Convert, Receiver>, Receiver> {
    using base = on_loop_state<next_ahead_state<Source, Convert, Receiver>, Receiver>;
    using queue = ahead_queue<Source>;
    using waiter = typename queue::waiter;

public:
    next_ahead_state(loop* home, queue* from, Convert convert, Receiver receiver) noexcept
        : base(home, std::move(receiver)),
          queue_(from),
          waiter_(&on_result),
          convert_(std::move(convert)) {}
    ~next_ahead_state() {
        this->retire();
        if (waits_) {
            queue_->remove(waiter_);
        }
    }

private:
    friend base;

    void begin() noexcept {
        waits_ = true;
        queue_->take(waiter_);
    }
    void stop() noexcept {
        waits_ = false;
        queue_->remove(waiter_);
        ex::set_stopped(this->end());
    }
    void drop() noexcept {}

    static bool on_result(waiter& w, typename Source::item item, io_result result,
                          bool loop_ends) noexcept {
        auto& self = owner_of<&next_ahead_state::waiter_>(w);
        if (result) {
            return self.deliver(std::move(item), result);
        }
        self.waits_ = false;
        if (loop_ends) {
            ex::set_stopped(self.end());
        } else {
            ex::set_error(self.end(), result.error());
        }
        return true;
    }

    /// False if the Convert has admit() and refuses the item.
    bool deliver(typename Source::item item, io_result result) noexcept {
        if constexpr (requires { convert_.admit(std::move(item)); }) {
            if (!convert_.admit(std::move(item))) {
                return false;
            }
            waits_ = false;
            convert_(result, this->end());
        } else {
            waits_ = false;
            convert_(std::move(item), this->end());
        }
        return true;
    }

    queue* queue_;
    waiter waiter_;
    bool waits_ = false;
    Convert convert_;
};

/// The awaiter of tasks that await a next_ahead. It is cheaper than connect().
template <class Source, class Convert, class Promise>
class ahead_wait;

/// The sender of incoming::next(). `Convert` turns an item into the value.
template <class Source, class Convert>
class [[nodiscard]] next_ahead {
public:
    using sender_concept = ex::sender_tag;

    next_ahead(loop* home, ahead_queue<Source>* queue, Convert convert) noexcept
        : home_(home), queue_(queue), convert_(std::move(convert)) {}

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() noexcept {
        return ex::completion_signatures<typename Convert::signature,
                                         ex::set_error_t(std::error_code), ex::set_stopped_t()>();
    }
    template <ex::receiver Receiver>
    auto connect(Receiver receiver) const noexcept {
        return next_ahead_state<Source, Convert, Receiver>(home_, queue_, convert_,
                                                           std::move(receiver));
    }
    completes_on_loop get_env() const noexcept { return {loop_scheduler(home_)}; }
    template <class Self = next_ahead>
    affine_sender<Self> affine() const {
        return affine_sender<Self>(*this);
    }

private:
    loop* home_;
    ahead_queue<Source>* queue_;
    Convert convert_;

    template <class S, class C, class Promise>
    friend class ahead_wait;
};

EDDY_EX_END
}  // namespace eddy::detail
