// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/connect.hpp>
#include <eddy/ex/detail/product.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace eddy::ex {

namespace detail {

template <class Tag, class Receiver, class... Values>
class just_operation {
public:
    using operation_state_concept = operation_state_tag;

    template <class Stored>
    just_operation(Receiver&& receiver, Stored&& values) noexcept(
        std::is_nothrow_constructible_v<product<Values...>, Stored>)
        : receiver_(static_cast<Receiver&&>(receiver)), values_(static_cast<Stored&&>(values)) {}
    just_operation(just_operation&&) = delete;

    void start() & noexcept {
        static_cast<product<Values...>&&>(values_).apply([this](Values&&... values) noexcept {
            Tag{}(static_cast<Receiver&&>(receiver_), static_cast<Values&&>(values)...);
        });
    }

private:
    Receiver receiver_;
    [[no_unique_address]] product<Values...> values_;
};

template <class Tag, class... Values>
struct just_sender {
    using sender_concept = sender_tag;

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() {
        return completion_signatures<Tag(Values...)>{};
    }

    template <receiver Receiver>
    auto connect(Receiver receiver) && noexcept(
        std::is_nothrow_move_constructible_v<product<Values...>>) {
        return just_operation<Tag, Receiver, Values...>(static_cast<Receiver&&>(receiver),
                                                        std::move(values));
    }
    template <receiver Receiver>
        requires(std::copy_constructible<Values> && ...)
    auto connect(Receiver receiver) const& noexcept(
        std::is_nothrow_copy_constructible_v<product<Values...>>) {
        return just_operation<Tag, Receiver, Values...>(static_cast<Receiver&&>(receiver), values);
    }
    static constexpr inline_attributes<Tag> get_env() noexcept { return {}; }

    [[no_unique_address]] product<Values...> values;
};

template <class T>
concept movable_value =
    std::move_constructible<std::decay_t<T>> && std::constructible_from<std::decay_t<T>, T> &&
    !std::is_array_v<std::remove_reference_t<T>>;

}  // namespace detail

/// Makes a sender that completes inside start() with the given values.
struct just_t {
    template <detail::movable_value... Values>
    constexpr auto operator()(Values&&... values) const
        noexcept(detail::nothrow_decay_copyable<Values...>) {
        return detail::just_sender<set_value_t, std::decay_t<Values>...>{
            detail::decayed_product<Values...>(detail::from_values,
                                               static_cast<Values&&>(values)...)};
    }
};
inline constexpr just_t just{};

struct just_error_t {
    template <detail::movable_value Error>
    constexpr auto operator()(Error&& error) const noexcept(detail::nothrow_decay_copyable<Error>) {
        return detail::just_sender<set_error_t, std::decay_t<Error>>{
            detail::decayed_product<Error>(detail::from_values, static_cast<Error&&>(error))};
    }
};
inline constexpr just_error_t just_error{};

struct just_stopped_t {
    constexpr auto operator()() const noexcept {
        return detail::just_sender<set_stopped_t>{detail::product<>(detail::from_values)};
    }
};
inline constexpr just_stopped_t just_stopped{};

}  // namespace eddy::ex

#endif
