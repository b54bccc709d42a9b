// Timers on the bare minimum: a 4-ary heap, and epoll_pwait2 until the first deadline.

#include <sys/epoll.h>

#include "common/die.hpp"
#include "common/unique_fd.hpp"
#include "timer/harness.hpp"
#include "timer/heap.hpp"

namespace {

template <class Handler>
class heap_timers {
public:
    heap_timers(Handler& handler, unsigned count)
        : handler_(handler),
          epoll_(bench::must(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
          nodes_(count) {
        heap_.reserve(count);
    }

    void set(unsigned i, std::int64_t delay) { heap_.insert(nodes_[i], now() + delay); }
    void cancel(unsigned i) { heap_.remove(nodes_[i]); }
    void push_back(unsigned i, std::int64_t delay) { heap_.move_later(nodes_[i], now() + delay); }
    void turn() { turn_ = bench::now_ns(); }
    void stop() { stopped_ = true; }

    void run() {
        running_ = true;
        while (!stopped_ && !heap_.empty()) {
            wait(heap_.first_key() - bench::now_ns());
            const std::int64_t at = bench::now_ns();
            while (bench::heap::node* n = stopped_ ? nullptr : heap_.take_expired(at)) {
                handler_.fired(static_cast<unsigned>(n - nodes_.data()));
            }
        }
    }

private:
    /// Before the loop runs nothing can fire, and the time of the turn is good enough; in a
    /// callback the delay counts from now.
    std::int64_t now() const { return running_ ? bench::now_ns() : turn_; }

    void wait(std::int64_t left) {
        if (left <= 0) return;
        const timespec t{.tv_sec = left / 1'000'000'000, .tv_nsec = left % 1'000'000'000};
        epoll_event e;
        ::epoll_pwait2(epoll_.get(), &e, 1, &t, nullptr);
    }

    Handler& handler_;
    bench::unique_fd epoll_;
    std::vector<bench::heap::node> nodes_;
    bench::heap heap_;
    std::int64_t turn_ = bench::now_ns();
    bool running_ = false;
    bool stopped_ = false;
};

}  // namespace

int main(int argc, char** argv) { return bench::timer_main<heap_timers>(argc, argv); }
