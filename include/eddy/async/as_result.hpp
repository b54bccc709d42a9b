// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/detail/await/sender_wait.hpp>
#include <eddy/async/detail/compose/code_of.hpp>
#include <eddy/base/result.hpp>
#include <eddy/ex/completion_signatures.hpp>
#include <eddy/ex/connect.hpp>
#include <eddy/ex/env.hpp>
#include <eddy/ex/receiver.hpp>
#include <eddy/ex/sender.hpp>
#include <eddy/io/detail/sender/completion.hpp>
#include <eddy/io/detail/sender/error_subject.hpp>
#include <eddy/io/detail/sender/sender_argument.hpp>

#include <exception>
#include <system_error>
#include <type_traits>
#include <utility>

namespace eddy::detail {

EDDY_EX_BEGIN

template <class Sender, class Env>
using result_of_t = result<typename awaited<values_of_t<Sender, Env>>::type>;

template <class Result, class Receiver>
class as_result_receiver {
public:
    using receiver_concept = ex::receiver_tag;

    explicit as_result_receiver(Receiver receiver) noexcept : receiver_(std::move(receiver)) {}

    template <class... Values>
    void set_value(Values&&... values) noexcept {
        try {
            if constexpr (sizeof...(Values) == 1) {
                ex::set_value(std::move(receiver_), Result(static_cast<Values&&>(values)...));
            } else if constexpr (sizeof...(Values) == 0) {
                ex::set_value(std::move(receiver_), Result());
            } else {
                using value = typename Result::value_type;
                ex::set_value(std::move(receiver_),
                              Result(value(static_cast<Values&&>(values)...)));
            }
        } catch (...) {
            ex::set_error(std::move(receiver_), std::current_exception());
        }
    }
    template <class Error>
    void set_error(Error&& error) noexcept {
        using type = std::decay_t<Error>;
        if constexpr (std::is_same_v<type, std::error_code>) {
            error_naming::forget();
            ex::set_value(std::move(receiver_), Result(error));
        } else if constexpr (std::is_same_v<type, std::exception_ptr>) {
            if (const std::error_code code = code_of(error)) {
                ex::set_value(std::move(receiver_), Result(code));
            } else {
                ex::set_error(std::move(receiver_), std::exception_ptr(error));
            }
        } else {
            ex::set_error(std::move(receiver_), to_exception(static_cast<Error&&>(error)));
        }
    }
    void set_stopped() noexcept { ex::set_stopped(std::move(receiver_)); }
    ex::env_of_t<Receiver> get_env() const noexcept { return ex::get_env(receiver_); }

private:
    Receiver receiver_;
};

template <class Sender>
class [[nodiscard]] as_result_sender {
public:
    using sender_concept = ex::sender_tag;

    explicit as_result_sender(Sender sender) noexcept(std::is_nothrow_move_constructible_v<Sender>)
        : sender_(std::move(sender)) {}

    template <class Self, class Env>
    static consteval auto get_completion_signatures() noexcept {
        return ex::completion_signatures<ex::set_value_t(result_of_t<Sender, Env>),
                                         ex::set_error_t(std::exception_ptr),
                                         ex::set_stopped_t()>();
    }
    template <ex::receiver Receiver>
    auto connect(Receiver receiver) && {
        using result = result_of_t<Sender, ex::env_of_t<Receiver>>;
        return ex::connect(std::move(sender_),
                           as_result_receiver<result, Receiver>(std::move(receiver)));
    }
    decltype(auto) get_env() const noexcept { return ex::get_env(sender_); }

private:
    Sender sender_;
};

EDDY_EX_END

}  // namespace eddy::detail

namespace eddy {

EDDY_EX_BEGIN

/// Completes with a result<T>, which holds the value or the std::error_code of `sender`. A
/// std::system_error is replaced by its code; all other errors stay errors.
///
///     auto got = co_await as_result(socket.read_some(buffer));    // result<std::size_t>
template <class Sender>
auto as_result(Sender&& sender) noexcept(
    std::is_nothrow_constructible_v<std::decay_t<Sender>, Sender> &&
    std::is_nothrow_move_constructible_v<std::decay_t<Sender>>) {
    if constexpr (ex::sender<Sender>) {
        return detail::as_result_sender<std::decay_t<Sender>>(static_cast<Sender&&>(sender));
    } else {
        detail::explain_argument<Sender>();
    }
}

EDDY_EX_END

}  // namespace eddy
