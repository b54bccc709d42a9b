// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/engine_fixture.hpp"

#include <eddy/ex/execution.hpp>
#include <eddy/io/run.hpp>

#include <functional>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>

namespace eddy::test {

class TaskTest : public EngineTest {
protected:
    void SetUp() override {
        EngineTest::SetUp();
        if (!IsSkipped()) {
            static_cast<void>(loop());  // other threads may use it
        }
    }
    template <class Sender>
    auto value_of(Sender sender) {
        return std::get<0>(loop().run(std::move(sender)).value());
    }
};

/// Calls a function when a block is left.
class at_exit {
public:
    explicit at_exit(std::function<void()> function) : function_(std::move(function)) {}
    ~at_exit() { function_(); }
    at_exit(const at_exit&) = delete;
    at_exit& operator=(const at_exit&) = delete;

private:
    std::function<void()> function_;
};

/// A sender of a number that completes on a thread of its own, which `where` is afterwards.
struct on_a_thread {
    using sender_concept = ex::sender_tag;
    std::thread* where;
    int value;

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() {
        return ex::completion_signatures<ex::set_value_t(int), ex::set_stopped_t()>{};
    }
    template <class Receiver>
    struct operation {
        using operation_state_concept = ex::operation_state_tag;
        std::thread* where;
        int value;
        Receiver receiver;
        void start() & noexcept {
            std::thread made([this] { ex::set_value(std::move(receiver), value); });
            *where = std::move(made);
        }
    };
    template <ex::receiver Receiver>
    auto connect(Receiver receiver) const noexcept {
        return operation<Receiver>{where, value, std::move(receiver)};
    }
};

/// A stop token of another type than inplace_stop_token.
struct foreign_token {
    ex::inplace_stop_token inner;

    template <class Function>
    struct callback_type {
        template <class Initializer>
        callback_type(foreign_token token, Initializer&& function)
            : inner(token.inner, std::forward<Initializer>(function)) {}
        ex::inplace_stop_callback<Function> inner;
    };
    bool stop_requested() const noexcept { return inner.stop_requested(); }
    bool stop_possible() const noexcept { return inner.stop_possible(); }
    bool operator==(const foreign_token&) const noexcept = default;
};

}  // namespace eddy::test
