// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support.hpp"

#include <utility>

namespace eddy::ex_testing {

/// Sends how it was connected: 1 as an rvalue, 2 as an lvalue, 3 as a const one; and 10 more if it
/// is a copy of an lvalue, 20 more if it is one of a const lvalue.
struct telltale {
    using sender_concept = ex::sender_tag;

    telltale() = default;
    telltale(telltale&&) = default;
    telltale(telltale&) noexcept : origin(10) {}
    telltale(const telltale&) noexcept : origin(20) {}

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() {
        return ex::completion_signatures<ex::set_value_t(int)>{};
    }
    template <class Receiver>
    struct operation {
        using operation_state_concept = ex::operation_state_tag;
        Receiver receiver;
        int how;
        void start() & noexcept { ex::set_value(std::move(receiver), how); }
    };
    template <ex::receiver Receiver>
    auto connect(Receiver receiver) && noexcept {
        return operation<Receiver>{std::move(receiver), origin + 1};
    }
    template <ex::receiver Receiver>
    auto connect(Receiver receiver) & noexcept {
        return operation<Receiver>{std::move(receiver), origin + 2};
    }
    template <ex::receiver Receiver>
    auto connect(Receiver receiver) const& noexcept {
        return operation<Receiver>{std::move(receiver), origin + 3};
    }

    struct attributes {
        static constexpr ex::inline_scheduler query(
            ex::get_completion_scheduler_t<ex::set_value_t>) noexcept {
            return {};
        }
    };
    static constexpr attributes get_env() noexcept { return {}; }

    int origin = 0;
};

}  // namespace eddy::ex_testing
