// Timers on eddy.

#include <memory>

#include "common/eddy_loop.hpp"
#include "timer/harness.hpp"

namespace {

template <class Handler>
class eddy_timers {
public:
    eddy_timers(Handler& handler, unsigned count)
        : handler_(handler), timers_(std::allocator<item>().allocate(count)), count_(count) {
        for (unsigned i = 0; i < count; ++i) std::construct_at(timers_ + i, loop_.get(), *this);
    }
    ~eddy_timers() {
        inside([this] { std::for_each_n(timers_, count_, [&](item& t) { loop_->disarm(t); }); });
        std::destroy_n(timers_, count_);
        std::allocator<item>().deallocate(timers_, count_);
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
        item(eddy::loop& loop, eddy_timers& o) : timer(loop, on_timer), owner(&o) {}
        eddy_timers* owner;
    };

    /// As the bare heap does it: the time of the turn, and in a callback the time that it is.
    eddy::time_point after(std::int64_t delay) const {
        return (running_ ? eddy::clock::now() : turn_) + eddy::duration(delay);
    }

    static void on_timer(eddy::timer& t) noexcept {
        const item& i = static_cast<item&>(t);
        i.owner->handler_.fired(static_cast<unsigned>(&i - i.owner->timers_));
    }

    Handler& handler_;
    bench::eddy_loop loop_;
    item* const timers_;  // side by side, as those of the others
    const unsigned count_;
    eddy::time_point turn_ = eddy::clock::now();
    bool running_ = false;
};

}  // namespace

int main(int argc, char** argv) { return bench::timer_main<eddy_timers>(argc, argv); }
