// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/fds.hpp"
#include "support/patience.hpp"

#include <eddy/pollset/poll_domain.hpp>
#include <eddy/pollset/poll_handle.hpp>
#include <eddy/pollset/pollset.hpp>
#include <eddy/pollset/pollset_set.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include <gtest/gtest.h>

namespace eddy::test {

using namespace std::chrono_literals;

/// A closure that remembers how often it was called, and with what.
class noted : public closure {
public:
    noted() noexcept
        : closure([](closure& self, std::error_code error) {
              auto& me = static_cast<noted&>(self);
              me.error_ = error;
              me.calls_.fetch_add(1);
          }) {}

    int calls() const noexcept { return calls_.load(); }
    std::error_code error() const noexcept { return error_; }

private:
    std::error_code error_;
    std::atomic<int> calls_{0};
};

/// Keeps what it is given until the test runs it.
class later final : public closure_executor {
public:
    void execute(closure& c) override { kept_.push_back(&c); }
    std::size_t size() const noexcept { return kept_.size(); }
    void run_first() {
        closure& c = *kept_.front();
        kept_.pop_front();
        c.run();
    }
    void run_all() {
        while (!kept_.empty()) {
            run_first();
        }
    }

private:
    std::deque<closure*> kept_;
};

/// A handle that is orphaned, if it was not yet, when the test lets go of it. A thread that has
/// just called a closure of it may still be on its way back: that is waited for.
class held_handle {
public:
    held_handle(poll_domain& domain, unique_fd fd, poll_handle_options options = {})
        : handle_(domain, std::move(fd), options) {}
    held_handle(const held_handle&) = delete;
    held_handle& operator=(const held_handle&) = delete;
    ~held_handle() {
        if (!orphaned_) {
            orphan();
        }
        for (const time_point end = clock::now() + patience; !done() && clock::now() < end;) {
            std::this_thread::sleep_for(50us);
        }
        EXPECT_EQ(done_.calls(), 1) << "the handle is not free yet";
    }

    poll_handle& operator*() noexcept { return handle_; }
    poll_handle* operator->() noexcept { return &handle_; }
    void orphan() {
        orphaned_ = true;
        handle_.orphan(done_);
    }
    unique_fd release() {
        orphaned_ = true;
        return handle_.release(done_);
    }
    bool done() const noexcept { return done_.calls() != 0; }

private:
    noted done_;
    poll_handle handle_;
    bool orphaned_ = false;
};

/// A test that runs with each strategy, in a domain of its own. It fails if descriptors leak.
class PollsetTest : public ::testing::TestWithParam<poll_strategy> {
protected:
    void SetUp() override {
        fds_before_ = open_fds();
        domain_.emplace(poll_domain_options{.strategy = GetParam()});
    }
    void TearDown() override {
        domain_.reset();
        EXPECT_EQ(open_fds(), fds_before_) << "descriptors were left open";
    }

    poll_domain& domain() { return *domain_; }
    static time_point soon(duration limit = patience) { return clock::now() + limit; }

    /// Works on `set` in a thread of its own with a lock, and says why it returned.
    struct inside {
        explicit inside(pollset& set, time_point deadline = soon(30s))
            : thread([this, &set, deadline] {
                  std::unique_lock lock(mutex);
                  entered = true;
                  why = *set.work(lock, worker, deadline);
              }) {}
        /// With the lock held the worker is inside, or was.
        std::unique_lock<std::mutex> once_inside() {
            for (;;) {
                std::unique_lock lock(mutex);
                if (entered) {
                    return lock;
                }
                lock.unlock();
                std::this_thread::sleep_for(50us);  // or the other one would never get it
            }
        }
        work_end join() {
            thread.join();
            return why;
        }

        std::mutex mutex;
        bool entered = false;
        pollset_worker worker;
        work_end why{};
        std::thread thread;
    };

    /// A thread that works on a pollset until it is told to leave, or that is shut down.
    class serving {
    public:
        explicit serving(pollset& set)
            : set_(set), thread_([this] {
                  while (!leave_) {
                      const auto end = set_.work(soon());
                      EXPECT_TRUE(end);
                      if (end && *end == work_end::shut_down) {
                          break;
                      }
                  }
              }) {}
        ~serving() {
            leave_ = true;
            set_.kick_any();
            thread_.join();
        }

    private:
        pollset& set_;
        std::atomic<bool> leave_{false};
        std::thread thread_;
    };
    /// A thread waits in the kernel, or is as good as there.
    bool waits(std::uint64_t more_than = 0) {
        return comes([&] { return domain().counters().waits > more_than; });
    }

    /// Waits for what other threads do.
    template <class Condition>
    static bool comes(Condition holds, duration limit = patience) {
        for (const time_point end = soon(limit); !holds();) {
            if (clock::now() > end) {
                return false;
            }
            std::this_thread::sleep_for(50us);
        }
        return true;
    }
    /// Works on `set` until the condition holds; false if that takes too long.
    template <class Condition>
    static bool until(pollset& set, Condition holds, duration limit = patience) {
        const time_point end = soon(limit);
        while (!holds()) {
            if (clock::now() >= end || !set.work(end)) {
                return false;
            }
        }
        return true;
    }
    /// Runs what is there without waiting, until nothing is.
    static std::size_t settle(pollset& set) {
        std::size_t rounds = 0;
        while (*set.try_work() == work_end::ran) {
            ++rounds;
        }
        return rounds;
    }

private:
    std::size_t fds_before_ = 0;
    std::optional<poll_domain> domain_;
};

inline std::string strategy_name(const ::testing::TestParamInfo<poll_strategy>& info) {
    return to_string(info.param);
}

#define EDDY_WITH_EVERY_STRATEGY(suite)                                                 \
    INSTANTIATE_TEST_SUITE_P(                                                           \
        Strategy, suite,                                                                \
        ::testing::Values(::eddy::poll_strategy::domain, ::eddy::poll_strategy::epoll1, \
                          ::eddy::poll_strategy::epollex, ::eddy::poll_strategy::poll), \
        ::eddy::test::strategy_name)

}  // namespace eddy::test
