// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/engine_fixture.hpp"

#include <eddy/ex/execution.hpp>
#include <eddy/io/bytes.hpp>
#include <eddy/io/run.hpp>

#include <optional>
#include <system_error>
#include <tuple>
#include <utility>

namespace eddy::test {

namespace ex = eddy::ex;
using eddy::bytes;

/// A sender that was started on a loop, and what became of it.
template <class Sender>
class started {
    struct environment {
        ex::inplace_stop_token token;
        ex::inplace_stop_token query(ex::get_stop_token_t) const noexcept { return token; }
    };
    struct receiver {
        using receiver_concept = ex::receiver_tag;
        started* self;

        template <class... Values>
        void set_value(Values&&... values) noexcept {
            self->values_.emplace(std::forward<Values>(values)...);
            ++self->completions_;
        }
        void set_error(std::error_code error) noexcept {
            self->error_ = error;
            ++self->completions_;
        }
        void set_error(std::exception_ptr exception) noexcept {
            self->exception_ = std::move(exception);
            ++self->completions_;
        }
        void set_stopped() noexcept {
            self->stopped_ = true;
            ++self->completions_;
        }
        environment get_env() const noexcept { return {self->source_.get_token()}; }
    };

public:
    /// Started in the next turn of the loop.
    started(loop& home, Sender sender)
        : operation_(ex::connect(std::move(sender), receiver{this})), start_([](entry& e) noexcept {
              ex::start(detail::owner_of<&started::start_>(e).operation_);
          }) {
        home.post(start_);
    }

    void stop() { source_.request_stop(); }
    bool ended() const { return completions_ != 0; }
    bool stopped() const { return stopped_; }
    int completions() const { return completions_; }
    std::error_code error() const { return error_; }
    bool threw() const { return exception_ != nullptr; }
    /// The first value.
    auto& value() { return std::get<0>(values_.value()); }
    bool has_value() const { return values_.has_value(); }

private:
    ex::inplace_stop_source source_;
    std::optional<detail::values_of_t<Sender, environment>> values_;
    std::error_code error_;
    std::exception_ptr exception_;
    bool stopped_ = false;
    int completions_ = 0;
    ex::connect_result_t<Sender, receiver> operation_;
    entry start_;
};

/// Handles on each engine.
class IoTest : public EngineTest {
protected:
    /// Runs the loop until the sender has completed, and returns its value if it has one; throws
    /// its error. One that is stopped throws std::bad_optional_access.
    template <class Sender>
    auto run(Sender sender) {
        auto values = loop().run(std::move(sender)).value();
        if constexpr (std::tuple_size_v<decltype(values)> != 0) {
            return std::get<0>(std::move(values));
        }
    }
    /// The error that the sender ends with; none if it has a value.
    template <class Sender>
    std::error_code error_of(Sender sender) {
        try {
            EXPECT_TRUE(loop().run(std::move(sender)).has_value()) << "it was stopped";
            return {};
        } catch (const std::system_error& e) {
            return e.code();
        }
    }
    template <class Sender>
    bool ends(started<Sender>& s) {
        return until([&] { return s.ended(); });
    }
    /// Waits for both, which go on at the same time, and returns the value of the second.
    template <class A, class B>
    auto run_both(A a, B b) {
        started first(loop(), std::move(a));
        auto result = run(std::move(b));
        EXPECT_TRUE(ends(first));
        EXPECT_TRUE(first.has_value()) << first.error().message();
        return std::pair(std::move(first.value()), std::move(result));
    }
};

inline constexpr std::errc canceled = std::errc::operation_canceled;
inline constexpr std::errc bad_fd = std::errc::bad_file_descriptor;

}  // namespace eddy::test
