// SPDX-License-Identifier: Apache-2.0

// Checks arguments that must be senders, and explains mistakes in one line.
#pragma once

#include <eddy/ex/connect.hpp>
#include <eddy/ex/detail/mistake.hpp>
#include <eddy/ex/env.hpp>
#include <eddy/ex/receiver.hpp>
#include <eddy/ex/sender.hpp>

#include <type_traits>

namespace eddy::detail {

EDDY_EX_BEGIN

/// A receiver that takes everything; only its type is used.
template <class Env>
struct probing_receiver {
    using receiver_concept = ex::receiver_tag;

    template <class... Values>
    void set_value(Values&&...) noexcept;
    template <class Error>
    void set_error(Error&&) noexcept;
    void set_stopped() noexcept;
    Env get_env() const noexcept;
};

/// A sender that can be connected as it was passed. Only lvalues are tested: rvalues always can.
template <class Sender, class Env>
concept connectable_in =
    ex::sender_in<Sender, Env> &&
    (!std::is_lvalue_reference_v<Sender> || ex::sender_to<Sender, probing_receiver<Env>>);

/// Always fails to compile, with one line that says why `Sender` is no sender.
template <class Sender>
constexpr void explain_argument() {
    if constexpr (ex::sender<std::remove_cvref_t<Sender>>) {
        static_assert(ex::detail::never<Sender>,
                      "this sender cannot be copied: is a std::move() missing?");
    } else {
        static_assert(ex::detail::never<Sender>,
                      "this is not a sender: it has no `using sender_concept = ex::sender_tag`");
    }
}

/// Always fails to compile, with one line about the first argument that is no sender.
template <class First, class... Others>
constexpr void explain_arguments() {
    if constexpr (ex::sender<First>) {
        explain_arguments<Others...>();
    } else {
        explain_argument<First>();
    }
}

/// Always fails to compile, and explains why `Sender` is not connectable_in<Env>.
template <class Env, class Sender>
constexpr void explain_in(Sender&& sender) {
    if constexpr (!ex::sender<Sender> || std::is_lvalue_reference_v<Sender>) {
        explain_argument<Sender>();
    } else {
        ex::connect(static_cast<Sender&&>(sender), probing_receiver<Env>());
    }
}

EDDY_EX_END

}  // namespace eddy::detail
