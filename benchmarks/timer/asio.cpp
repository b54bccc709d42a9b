// SPDX-License-Identifier: Apache-2.0
// Timers on asio, without locks. A timer that is moved or cancelled completes its wait with an
// error: those completions are run by the next turn.

#include <asio.hpp>
#include <deque>

#include "timer/harness.hpp"

namespace {

template <class Handler>
class asio_timers {
public:
    asio_timers(Handler& handler, unsigned count) : handler_(handler) {
        for (unsigned i = 0; i < count; ++i) timers_.emplace_back(context_);
    }

    void set(unsigned i, std::int64_t delay) {
        timers_[i].expires_after(std::chrono::nanoseconds(delay));
        timers_[i].async_wait([this, i](std::error_code error) {
            if (!error) handler_.fired(i);
        });
    }
    void cancel(unsigned i) { timers_[i].cancel(); }
    void push_back(unsigned i, std::int64_t delay) { set(i, delay); }
    void turn() { context_.poll(); }
    void run() { context_.run(); }
    void stop() { context_.stop(); }

private:
    using timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                             asio::wait_traits<std::chrono::steady_clock>,
                                             asio::io_context::executor_type>;

    Handler& handler_;
    asio::io_context context_{ASIO_CONCURRENCY_HINT_UNSAFE};
    std::deque<timer> timers_;
};

}  // namespace

int main(int argc, char** argv) { return bench::timer_main<asio_timers>(argc, argv); }
