// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support.hpp"

#include <thread>

namespace eddy::ex_testing {

/// A thread with a loop of its own.
class other_thread {
public:
    other_thread() : thread_([this] { loop_.run(); }) {}
    ~other_thread() {
        loop_.finish();
        thread_.join();
    }
    auto get_scheduler() noexcept { return loop_.get_scheduler(); }
    std::thread::id id() const noexcept { return thread_.get_id(); }

private:
    ex::run_loop loop_;
    std::thread thread_;
};

inline constexpr auto here = [] { return std::this_thread::get_id(); };

}  // namespace eddy::ex_testing
