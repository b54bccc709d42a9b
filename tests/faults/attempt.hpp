// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/timeout.hpp>
#include <eddy/base/clock.hpp>
#include <eddy/io/run.hpp>
#include <eddy/loop/loop.hpp>

#include <system_error>
#include <utility>
#include <vector>

namespace eddy::test {

/// One run of a scenario, and how it has ended.
class attempt {
public:
    explicit attempt(duration limit) noexcept : limit_(limit) {}

    /// What a scenario waits for at most, before it cancels what it waits for.
    duration limit() const noexcept { return limit_; }
    void give_up() noexcept { gave_up_ = true; }
    bool gave_up() const noexcept { return gave_up_; }

    /// Something has ended with that error; without one, nothing happens.
    void told(std::error_code error) {
        if (error) {
            errors_.push_back(error);
        }
    }
    const std::vector<std::error_code>& errors() const noexcept { return errors_; }

    /// All that the scenario is about has happened.
    void succeed(bool yes = true) noexcept { succeeded_ = yes; }
    bool succeeded() const noexcept { return succeeded_; }

    /// What `function` throws is told.
    template <class Function>
    void guard(Function&& function) {
        try {
            function();
        } catch (const std::system_error& e) {
            if (e.code() == errc::timed_out) {
                give_up();
            } else {
                told(e.code());
            }
        }
    }
    /// Runs a sender of a bool that says whether all went well.
    template <class Sender>
    void run(loop& on, Sender&& sender) {
        guard([&] {
            const auto ended = on.run(timeout(std::forward<Sender>(sender), limit_));
            succeed(ended && std::get<0>(*ended));
        });
    }

private:
    duration limit_;
    bool gave_up_ = false;
    bool succeeded_ = false;
    std::vector<std::error_code> errors_;
};

}  // namespace eddy::test
