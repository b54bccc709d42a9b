// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/loop/descriptor.hpp>
#include <eddy/loop/lease.hpp>
#include <eddy/loop/loop.hpp>
#include <eddy/loop/requests.hpp>

#include <functional>
#include <utility>

namespace eddy::test {

/// An entry that counts its callbacks and calls functions from them.
class job : public entry {
public:
    explicit job(std::function<void()> run = {}, std::function<void()> cancel = {})
        : run_(std::move(run)), cancel_(std::move(cancel)) {
        set_callbacks(&on_run, &on_cancel);
    }

    int runs = 0;
    int cancels = 0;

private:
    static void on_run(entry& e) noexcept {
        auto& self = static_cast<job&>(e);
        ++self.runs;
        call(self.run_);
    }
    static void on_cancel(entry& e) noexcept {
        auto& self = static_cast<job&>(e);
        ++self.cancels;
        call(self.cancel_);
    }
    /// By value: it may destroy the job.
    static void call(std::function<void()> function) {
        if (function) {
            function();
        }
    }

    std::function<void()> run_;
    std::function<void()> cancel_;
};

/// A timer that counts its callbacks and calls functions from them.
class alarm : public timer {
public:
    explicit alarm(loop& home, std::function<void()> run = {}, std::function<void()> cancel = {},
                   timer_clock which = timer_clock::steady)
        : timer(home, &on_run, &on_cancel, which),
          run_(std::move(run)),
          cancel_(std::move(cancel)) {}

    int runs = 0;
    int cancels = 0;

private:
    static void on_run(timer& t) noexcept {
        auto& self = static_cast<alarm&>(t);
        ++self.runs;
        call(self.run_);
    }
    static void on_cancel(timer& t) noexcept {
        auto& self = static_cast<alarm&>(t);
        ++self.cancels;
        call(self.cancel_);
    }
    static void call(std::function<void()> function) {
        if (function) {
            function();
        }
    }

    std::function<void()> run_;
    std::function<void()> cancel_;
};

}  // namespace eddy::test
