// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/connect.hpp>
#include <eddy/ex/detail/mistake.hpp>
#include <eddy/ex/detail/then.hpp>

#include <exception>
#include <type_traits>
#include <utility>

namespace eddy::ex {

namespace detail {

EDDY_EX_MISTAKE(no_answer, "read_env: the environment has no answer to this query");

template <class Query, class Receiver>
class read_env_operation {
public:
    using operation_state_concept = operation_state_tag;

    explicit read_env_operation(Receiver&& receiver) noexcept
        : receiver_(static_cast<Receiver&&>(receiver)) {}
    read_env_operation(read_env_operation&&) = delete;

    void start() & noexcept {
        if constexpr (nothrow) {
            ask();
        } else {
            try {
                ask();
            } catch (...) {
                set_error(static_cast<Receiver&&>(receiver_), std::current_exception());
            }
        }
    }

private:
    static constexpr bool nothrow = std::is_nothrow_invocable_v<Query, env_of_t<Receiver>>;

    /// Asks and completes in one expression, because the answer may refer to a temporary
    /// environment.
    void ask() noexcept(nothrow) {
        if constexpr (std::is_void_v<std::invoke_result_t<Query, env_of_t<Receiver>>>) {
            Query{}(get_env(receiver_));
            set_value(static_cast<Receiver&&>(receiver_));
        } else {
            set_value(static_cast<Receiver&&>(receiver_), Query{}(get_env(receiver_)));
        }
    }

    Receiver receiver_;
};

template <class Query>
struct read_env_sender {
    using sender_concept = sender_tag;

    template <class Self, class Env>
    static consteval auto get_completion_signatures() {
        if constexpr (std::is_invocable_v<Query, Env>) {
            return join_signatures_t<
                typename value_signature<std::invoke_result_t<Query, Env>>::type,
                throws_if<!std::is_nothrow_invocable_v<Query, Env>>>{};
        } else {
            return no_answer{};
        }
    }
    template <receiver Receiver>
    auto connect(Receiver receiver) const noexcept {
        return read_env_operation<Query, Receiver>(static_cast<Receiver&&>(receiver));
    }
    static constexpr inline_attributes<set_value_t> get_env() noexcept { return {}; }
};

}  // namespace detail

/// Makes a sender of the answer that the receiver's environment gives to a query.
struct read_env_t {
    template <class Query>
    constexpr auto operator()(Query) const noexcept {
        return detail::read_env_sender<Query>{};
    }
};
inline constexpr read_env_t read_env{};

}  // namespace eddy::ex

#endif
