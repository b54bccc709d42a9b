// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/execution.hpp>
#include <eddy/loop/loop.hpp>

#include <atomic>
#include <exception>
#include <optional>
#include <ostream>
#include <system_error>
#include <type_traits>
#include <utility>

namespace eddy::test {

namespace ex = eddy::ex;

enum class ending { none, value, error, exception, stopped };

inline std::ostream& operator<<(std::ostream& out, ending how) {
    constexpr const char* names[] = {"none", "value", "error", "exception", "stopped"};
    return out << names[static_cast<int>(how)];
}

/// How an operation ended. May be asked from another thread once ended() is true.
struct outcome {
    std::atomic<ending> how = ending::none;
    int number = 0;
    std::error_code error;
    std::exception_ptr exception;
    loop* where = nullptr;  ///< the loop that it completed on
    int completions = 0;

    bool ended() const { return how.load(std::memory_order_acquire) != ending::none; }
    void end(ending e) {
        where = loop::current();
        ++completions;
        how.store(e, std::memory_order_release);
    }
};

/// Keeps the last value if it is an int, and drops all others.
struct note_number {
    template <class... Values>
    void operator()(outcome& seen, Values&&... values) {
        (note(seen, values), ...);
    }
    template <class T>
    static void note(outcome& seen, const T& value) {
        if constexpr (std::is_same_v<T, int>) seen.number = value;
    }
};

/// A sender that can be started and stopped, and what becomes of it. `OnValue` takes the values.
template <class Sender, class OnValue = note_number>
class running {
    struct environment {
        ex::inplace_stop_token token;
        ex::inplace_stop_token query(ex::get_stop_token_t) const noexcept { return token; }
    };
    struct receiver {
        using receiver_concept = ex::receiver_tag;
        running* self;

        template <class... Values>
        void set_value(Values&&... values) noexcept {
            self->on_value_(self->seen, std::forward<Values>(values)...);
            self->seen.end(ending::value);
        }
        void set_error(std::error_code error) noexcept {
            self->seen.error = error;
            self->seen.end(ending::error);
        }
        void set_error(std::exception_ptr exception) noexcept {
            self->seen.exception = std::move(exception);
            self->seen.end(ending::exception);
        }
        void set_stopped() noexcept { self->seen.end(ending::stopped); }
        environment get_env() const noexcept { return {self->source.get_token()}; }
    };

public:
    explicit running(Sender sender, OnValue on_value = {})
        : on_value_(std::move(on_value)),
          operation_(ex::connect(std::move(sender), receiver{this})) {}

    /// Here, on whatever loop this is.
    void start() { ex::start(operation_); }
    /// On that loop.
    void start_on(scheduler& where) {
        where.post([this] { start(); });
    }
    void stop() { source.request_stop(); }
    bool ended() const { return seen.ended(); }
    ending how() const { return seen.how; }

    outcome seen;
    ex::inplace_stop_source source;

private:
    OnValue on_value_;
    ex::connect_result_t<Sender, receiver> operation_;
};

}  // namespace eddy::test
