#pragma once

#include <sys/epoll.h>

#include <cstddef>

#include "common/die.hpp"
#include "common/unique_fd.hpp"
#include "timer/harness.hpp"
#include "timer/heap.hpp"

namespace bench {

/// The bare minimum: its user knows that what he pushes back is set, and to later.
struct bare_node : heap::node {
    static constexpr bool asks = false;
};

template <std::size_t Size>
struct padding {
    std::byte bytes[Size] = {};
};
template <>
struct padding<0> {};

/// A node of `Size` bytes with the duties of a library, whose users may set any timer to any time:
/// pushing back has to ask.
template <std::size_t Size>
struct library_node : heap::node, padding<Size - sizeof(heap::node)> {
    static constexpr bool asks = true;
};

/// Timers on a 4-ary heap, and epoll_pwait2 until the first deadline.
template <class Handler, class Node>
class heap_timers {
public:
    heap_timers(Handler& handler, unsigned count)
        : handler_(handler),
          epoll_(must(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
          nodes_(count) {
        heap_.reserve(count);
        heap_.touch();
    }

    void set(unsigned i, std::int64_t delay) { heap_.insert(nodes_[i], now() + delay); }
    void cancel(unsigned i) { heap_.remove(nodes_[i]); }
    void push_back(unsigned i, std::int64_t delay) {
        Node& n = nodes_[i];
        const std::int64_t deadline = now() + delay;
        if (Node::asks && (n.place == heap::absent || deadline <= n.deadline)) {
            set_anew(n, deadline);
        } else {
            heap_.move_later(n, deadline);
        }
    }
    void turn() { turn_ = now_ns(); }
    void stop() { stopped_ = true; }

    void run() {
        running_ = true;
        while (!stopped_ && !heap_.empty()) {
            wait(heap_.first_key() - now_ns());
            const std::int64_t at = now_ns();
            while (heap::node* n = stopped_ ? nullptr : heap_.take_expired(at)) {
                handler_.fired(static_cast<unsigned>(static_cast<Node*>(n) - nodes_.data()));
            }
        }
    }

private:
    [[gnu::noinline]] void set_anew(Node& n, std::int64_t deadline) {
        if (n.place != heap::absent) heap_.remove(n);
        heap_.insert(n, deadline);
    }

    /// Before the loop runs nothing can fire, and the time of the turn is good enough; in a
    /// callback the delay counts from now.
    std::int64_t now() const { return running_ ? now_ns() : turn_; }

    void wait(std::int64_t left) {
        if (left <= 0) return;
        const timespec t{.tv_sec = left / 1'000'000'000, .tv_nsec = left % 1'000'000'000};
        epoll_event e;
        ::epoll_pwait2(epoll_.get(), &e, 1, &t, nullptr);
    }

    Handler& handler_;
    unique_fd epoll_;
    std::vector<Node> nodes_;
    heap heap_;
    std::int64_t turn_ = now_ns();
    bool running_ = false;
    bool stopped_ = false;
};

}  // namespace bench
