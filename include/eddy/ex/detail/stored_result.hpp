// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/completion_signatures.hpp>
#include <eddy/ex/detail/choice.hpp>
#include <eddy/ex/detail/product.hpp>

#include <exception>
#include <type_traits>
#include <utility>

namespace eddy::ex {
namespace detail {

/// A completion that is kept for later delivery.
template <class Tag, class... Args>
struct stored_result : product<Args...> {
    using product<Args...>::product;

    template <class Receiver>
    void deliver(Receiver& receiver) noexcept {
        static_cast<product<Args...>&&>(*this).apply([&](Args&&... args) noexcept {
            Tag{}(static_cast<Receiver&&>(receiver), static_cast<Args&&>(args)...);
        });
    }
};

template <class Signature>
struct stored_result_of;
template <class Tag, class... Args>
struct stored_result_of<Tag(Args...)> : identity<stored_result<Tag, std::decay_t<Args>...>> {};

template <class Signatures>
inline constexpr bool stores_all_nothrow =
    stores_nothrow<Signatures, set_value_t> && stores_nothrow<Signatures, set_error_t>;

/// Maps signatures to those with which the stored results are delivered.
struct decay_map {
    template <class Signature>
    struct apply;
    template <class Tag, class... Args>
    struct apply<Tag(Args...)> : identity<completion_signatures<Tag(std::decay_t<Args>...)>> {};
};
template <class Signatures>
using stored_signatures_t = join_signatures_t<map_signatures_t<Signatures, decay_map>,
                                              throws_if<!stores_all_nothrow<Signatures>>>;

template <class Signatures>
struct result_choice;
template <class... Signatures>
struct result_choice<completion_signatures<Signatures...>>
    : rename<append_unique_t<type_list<>, typename stored_result_of<Signatures>::type...>, choice> {
};

/// Keeps one completion of any of `Signatures`. If storing throws, keeps the exception.
template <class Signatures>
class result_store {
public:
    template <class Tag, class... Args>
    void store(Tag, Args&&... args) noexcept {
        using result = stored_result<Tag, std::decay_t<Args>...>;
        if constexpr (nothrow_decay_copyable<Args...>) {
            results_.template emplace<result>(from_values, static_cast<Args&&>(args)...);
        } else {
            try {
                results_.template emplace<result>(from_values, static_cast<Args&&>(args)...);
            } catch (...) {
                using failure = stored_result<set_error_t, std::exception_ptr>;
                results_.template emplace<failure>(from_values, std::current_exception());
            }
        }
    }
    /// Completes the receiver, which may destroy this object.
    template <class Receiver>
    void deliver(Receiver& receiver) noexcept {
        results_.visit([&](auto& result) noexcept { result.deliver(receiver); });
    }

private:
    typename result_choice<stored_signatures_t<Signatures>>::type results_;
};

}  // namespace detail
}  // namespace eddy::ex
