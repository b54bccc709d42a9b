// Timers on eddy.

#include <deque>

#include "common/eddy_loop.hpp"
#include "timer/harness.hpp"

namespace {

template <class Handler>
class eddy_timers {
public:
    eddy_timers(Handler& handler, unsigned count) : handler_(handler) {
        for (unsigned i = 0; i < count; ++i) timers_.emplace_back(loop_.get(), *this, i);
    }
    ~eddy_timers() {
        inside([this] {
            for (item& t : timers_) loop_->disarm(t);
        });
    }

    template <class Function>
    void inside(Function f) {
        loop_->post([this, f] {
            f();
            loop_->stop();
        });
        loop_->run();
    }

    void set(unsigned i, std::int64_t delay) { loop_->post_at(after(delay), timers_[i]); }
    void cancel(unsigned i) { loop_->disarm(timers_[i]); }
    void push_back(unsigned i, std::int64_t delay) { set(i, delay); }
    void turn() { turn_ = eddy::clock::now(); }
    void run() {
        running_ = true;
        loop_->run();
    }
    void stop() { loop_->stop(); }

private:
    struct item : eddy::timer {
        item(eddy::loop& loop, eddy_timers& o, unsigned n)
            : timer(loop, on_timer), owner(&o), number(n) {}
        eddy_timers* owner;
        unsigned number;
    };

    /// As the bare heap does it: the time of the turn, and in a callback the time that it is.
    eddy::time_point after(std::int64_t delay) const {
        return (running_ ? eddy::clock::now() : turn_) + eddy::duration(delay);
    }

    static void on_timer(eddy::timer& t) noexcept {
        const item& i = static_cast<item&>(t);
        i.owner->handler_.fired(i.number);
    }

    Handler& handler_;
    bench::eddy_loop loop_;
    std::deque<item> timers_;
    eddy::time_point turn_ = eddy::clock::now();
    bool running_ = false;
};

}  // namespace

int main(int argc, char** argv) { return bench::timer_main<eddy_timers>(argc, argv); }
