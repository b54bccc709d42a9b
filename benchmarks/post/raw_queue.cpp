// Posting on the bare minimum: an intrusive stack that the consumer takes whole and reverses, and
// an eventfd that is written only when the consumer sleeps.

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "common/die.hpp"
#include "common/unique_fd.hpp"
#include "post/harness.hpp"

namespace {

template <class Handler>
class queue {
public:
    struct item {
        item* next = nullptr;
    };

    explicit queue(Handler& handler)
        : handler_(handler),
          event_(bench::must(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")),
          epoll_(bench::must(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")) {
        // Edge-triggered: every write is a new event, so that nobody has to read it.
        epoll_event e{.events = EPOLLIN | EPOLLET, .data = {}};
        bench::must(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, event_.get(), &e), "epoll_ctl");
    }

    void prepare(item&) noexcept {}

    void post(item& i) noexcept {
        item* old = head_.load(std::memory_order_relaxed);
        do {
            i.next = old == &asleep_ ? nullptr : old;
            // Pairs with take(): the consumer sees `next`, and what its producer wrote before.
        } while (!head_.compare_exchange_weak(old, &i, std::memory_order_release,
                                              std::memory_order_relaxed));
        if (old == &asleep_) ::eventfd_write(event_.get(), 1);
    }

    void run() noexcept {
        while (!stopped_) {
            item* all = take();
            if (all == nullptr) sleep();
            while (all != nullptr) {
                all = all->next;  // first: ran() may post the same item again
                handler_.ran();
            }
        }
    }

    void stop() noexcept { stopped_ = true; }

private:
    item* take() noexcept {
        item* newest = head_.exchange(nullptr, std::memory_order_acquire);  // pairs with post()
        item* oldest = nullptr;
        while (newest != nullptr && newest != &asleep_) {
            item* next = newest->next;
            newest->next = oldest;
            oldest = newest;
            newest = next;
        }
        return oldest;
    }

    void sleep() noexcept {
        item* none = nullptr;
        if (!head_.compare_exchange_strong(none, &asleep_, std::memory_order_relaxed)) return;
        epoll_event e;
        ::epoll_wait(epoll_.get(), &e, 1, -1);
    }

    Handler& handler_;
    bench::unique_fd event_;
    bench::unique_fd epoll_;
    bool stopped_ = false;
    item asleep_;
    alignas(64) std::atomic<item*> head_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) { return bench::post_main<queue>(argc, argv); }
