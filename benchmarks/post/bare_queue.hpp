// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <atomic>
#include <cstddef>

#include "common/die.hpp"
#include "common/unique_fd.hpp"
#include "post/harness.hpp"

namespace bench {

/// No more than what the queue needs: all items mean the same.
template <class Handler>
struct bare_item {
    void prepare(Handler&) noexcept {}
    static void run(Handler& handler) noexcept { handler.ran(); }

    bare_item* next = nullptr;
};

/// An item of 48 bytes with the duties of a library: each says what is to be called.
template <class Handler>
struct library_item {
    void prepare(Handler& h) noexcept {
        handler = &h;
        call = [](library_item& i) noexcept { i.handler->ran(); };
    }
    void run(Handler&) noexcept { call(*this); }

    library_item* next = nullptr;
    void (*call)(library_item&) noexcept = nullptr;
    Handler* handler = nullptr;
    std::byte rest[24] = {};
};

/// An intrusive stack that the consumer takes whole and reverses, and an eventfd that is written
/// only when the consumer sleeps.
template <class Handler, class Item>
class bare_queue {
public:
    using item = Item;

    explicit bare_queue(Handler& handler)
        : handler_(handler),
          event_(must(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")),
          epoll_(must(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")) {
        // Edge-triggered: every write is a new event, so that nobody has to read it.
        epoll_event e{.events = EPOLLIN | EPOLLET, .data = {}};
        must(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, event_.get(), &e), "epoll_ctl");
    }

    void prepare(item& i) noexcept { i.prepare(handler_); }

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
                item& one = *all;
                all = one.next;  // first: what runs may post the same item again
                one.run(handler_);
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
    unique_fd event_;
    unique_fd epoll_;
    bool stopped_ = false;
    item asleep_;
    alignas(64) std::atomic<item*> head_ = nullptr;
};

}  // namespace bench
