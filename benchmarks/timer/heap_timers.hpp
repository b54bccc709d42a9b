// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/epoll.h>

#include <cstddef>
#include <cstdlib>
#include <limits>

#include "common/die.hpp"
#include "common/unique_fd.hpp"
#include "timer/harness.hpp"
#include "timer/heap.hpp"

namespace bench {

/// What is asked of a timer before something is done with it.
enum class questions {
    none,   ///< its user knows that what he sets is not set, and that what he pushes back is
    later,  ///< users may set any timer to any time: pushing back asks whether it is to later
    all,    ///< also whose it is, by which thread, and whether it is set; and how many are, counted
};

struct bare_node : heap::node {
    static constexpr questions asks = questions::none;
};

template <std::size_t Size>
struct padding {
    std::byte bytes[Size] = {};
};
template <>
struct padding<0> {};

/// A node of `Size` bytes. Nothing is later than the deadline of what is not set, so that pushing
/// back has one question.
template <std::size_t Size>
struct library_node : heap::node, padding<Size - sizeof(heap::node)> {
    static constexpr questions asks = questions::later;
    static constexpr std::int64_t no_deadline = std::numeric_limits<std::int64_t>::max();

    library_node() { deadline = no_deadline; }
};

/// A node of 64 bytes that knows whose it is.
struct asking_node : library_node<sizeof(heap::node)> {
    static constexpr questions asks = questions::all;

    const void* home = nullptr;
    padding<64 - sizeof(heap::node) - sizeof(home)> unused;
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
        current_ = this;
        if constexpr (Node::asks == questions::all) {
            for (Node& n : nodes_) n.home = this;
        }
    }

    [[gnu::always_inline]] void set(unsigned i, std::int64_t delay) {
        Node& n = nodes_[i];
        if (!may_set(n)) std::abort();
        heap_.insert(n, now() + delay);
    }
    [[gnu::always_inline]] void cancel(unsigned i) {
        Node& n = nodes_[i];
        if (!may_cancel(n)) std::abort();
        heap_.remove(n);
        forget_deadline(n);
    }
    [[gnu::always_inline]] void push_back(unsigned i, std::int64_t delay) {
        Node& n = nodes_[i];
        const std::int64_t deadline = now() + delay;
        if (Node::asks != questions::none && (!is_mine(n) || deadline <= n.deadline)) {
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
                Node& due = static_cast<Node&>(*n);
                forget_deadline(due);
                count_ -= Node::asks == questions::all ? 1 : 0;
                handler_.fired(static_cast<unsigned>(&due - nodes_.data()));
            }
        }
    }

private:
    bool is_mine(const Node& n) const {
        if constexpr (Node::asks == questions::all) return n.home == this;
        return true;
    }
    bool may_set(const Node& n) {
        if constexpr (Node::asks == questions::all) {
            ++count_;
            return is_mine(n) && n.place == heap::absent && current_ == this;
        }
        return true;
    }
    bool may_cancel(const Node& n) {
        if constexpr (Node::asks == questions::all) {
            --count_;
            return is_mine(n) && n.place != heap::absent;
        }
        return true;
    }
    void forget_deadline(Node& n) {
        if constexpr (Node::asks != questions::none) n.deadline = Node::no_deadline;
    }

    [[gnu::noinline]] void set_anew(Node& n, std::int64_t deadline) {
        if (!is_mine(n)) std::abort();
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

    /// What this thread runs.
    static inline thread_local heap_timers* current_ = nullptr;

    Handler& handler_;
    unique_fd epoll_;
    std::vector<Node> nodes_;
    heap heap_;
    std::int64_t turn_ = now_ns();
    std::size_t count_ = 0;
    bool running_ = false;
    bool stopped_ = false;
};

}  // namespace bench
