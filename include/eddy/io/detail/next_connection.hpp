#pragma once

#include <eddy/ex/completion_signatures.hpp>
#include <eddy/ex/completions.hpp>
#include <eddy/ex/receiver.hpp>
#include <eddy/ex/sender.hpp>
#include <eddy/io/detail/accept_queue.hpp>
#include <eddy/io/detail/on_loop_state.hpp>
#include <eddy/io/loop_scheduler.hpp>

#include <system_error>
#include <utility>

namespace eddy::detail {
EDDY_EX_BEGIN

template <class Convert, class Receiver>
class next_connection_state
    : public on_loop_state<next_connection_state<Convert, Receiver>, Receiver> {
    using base = on_loop_state<next_connection_state<Convert, Receiver>, Receiver>;

public:
    next_connection_state(loop* home, accept_queue* queue, Convert convert,
                          Receiver receiver) noexcept
        : base(home, std::move(receiver)), queue_(queue), waiter_(&on_result), convert_(convert) {}
    ~next_connection_state() {
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

    static void on_result(accept_queue::waiter& w, io_result result, bool loop_ends) noexcept {
        auto& self = owner_of<&next_connection_state::waiter_>(w);
        self.waits_ = false;
        if (result) {
            self.convert_(result, self.end());
        } else if (loop_ends) {
            ex::set_stopped(self.end());
        } else {
            ex::set_error(self.end(), result.error());
        }
    }

    accept_queue* queue_;
    accept_queue::waiter waiter_;
    bool waits_ = false;
    Convert convert_;
};

template <class Convert>
class [[nodiscard]] next_connection {
public:
    using sender_concept = ex::sender_tag;

    next_connection(loop* home, accept_queue* queue, Convert convert) noexcept
        : home_(home), queue_(queue), convert_(convert) {}

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() noexcept {
        return ex::completion_signatures<typename Convert::signature,
                                         ex::set_error_t(std::error_code), ex::set_stopped_t()>();
    }
    template <ex::receiver Receiver>
    auto connect(Receiver receiver) const noexcept {
        return next_connection_state<Convert, Receiver>(home_, queue_, convert_,
                                                        std::move(receiver));
    }
    completes_on_loop get_env() const noexcept { return {loop_scheduler(home_)}; }
    template <class Self = next_connection>
    affine_sender<Self> affine() const {
        return affine_sender<Self>(*this);
    }

private:
    loop* home_;
    accept_queue* queue_;
    Convert convert_;
};

EDDY_EX_END
}  // namespace eddy::detail
