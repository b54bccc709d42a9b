// SPDX-License-Identifier: Apache-2.0

// Stores completions that are delivered later, and computes their signatures, for each vocabulary.
#pragma once

#include <eddy/ex/completion_signatures.hpp>
#include <eddy/ex/completions.hpp>
#include <eddy/ex/detail/choice.hpp>
#include <eddy/ex/detail/meta.hpp>
#include <eddy/ex/detail/product.hpp>
#include <eddy/ex/sender.hpp>

#include <exception>
#include <type_traits>
#include <utility>

namespace eddy::detail {
EDDY_EX_BEGIN

using ex::detail::identity;
using ex::detail::nothrow_decay_copyable;
using ex::detail::type_list;

/// The union of several lists of signatures.
template <class... Lists>
struct join_signatures : identity<ex::completion_signatures<>> {};
template <class... As>
struct join_signatures<ex::completion_signatures<As...>>
    : ex::detail::rename<ex::detail::append_unique_t<type_list<>, As...>,
                         ex::completion_signatures> {};
template <class... As, class... Bs, class... Rest>
struct join_signatures<ex::completion_signatures<As...>, ex::completion_signatures<Bs...>, Rest...>
    : join_signatures<ex::completion_signatures<As..., Bs...>, Rest...> {};
template <class... Lists>
using join_signatures_t = typename join_signatures<Lists...>::type;

template <class Signature>
struct decayed_signature;
template <class Tag, class... Args>
struct decayed_signature<Tag(Args...)> : identity<Tag(std::decay_t<Args>...)> {
    static constexpr bool nothrow = nothrow_decay_copyable<Args...>;
};

using failure_signature = ex::completion_signatures<ex::set_error_t(std::exception_ptr)>;
template <bool Throws>
using failure_if = std::conditional_t<Throws, failure_signature, ex::completion_signatures<>>;

/// The signatures of completions that are delivered after they were stored.
template <class List>
struct stored_signatures;
template <class... Signatures>
struct stored_signatures<ex::completion_signatures<Signatures...>>
    : join_signatures<ex::completion_signatures<typename decayed_signature<Signatures>::type...>,
                      failure_if<!(decayed_signature<Signatures>::nothrow && ...)>> {};
template <class List>
using stored_signatures_t = typename stored_signatures<List>::type;

/// The signatures in `List` whose tag is one of `Tags`.
template <class List, class... Tags>
struct only_signatures;
template <class... Tags>
struct only_signatures<ex::completion_signatures<>, Tags...>
    : identity<ex::completion_signatures<>> {};
template <class Tag, class... Args, class... Rest, class... Tags>
struct only_signatures<ex::completion_signatures<Tag(Args...), Rest...>, Tags...>
    : join_signatures<
          std::conditional_t<(std::is_same_v<Tag, Tags> || ...),
                             ex::completion_signatures<Tag(Args...)>, ex::completion_signatures<>>,
          typename only_signatures<ex::completion_signatures<Rest...>, Tags...>::type> {};
template <class List, class... Tags>
using only_signatures_t = typename only_signatures<List, Tags...>::type;

template <class Signature, class List>
inline constexpr bool has_signature = false;
template <class Signature, class... Signatures>
inline constexpr bool has_signature<Signature, ex::completion_signatures<Signatures...>> =
    (std::is_same_v<Signature, Signatures> || ...);

template <class Tag, class... Args>
struct stored_result : ex::detail::product<Args...> {
    using ex::detail::product<Args...>::product;

    template <class Receiver>
    void deliver(Receiver& receiver) noexcept {
        static_cast<ex::detail::product<Args...>&&>(*this).apply([&](Args&&... args) noexcept {
            Tag{}(static_cast<Receiver&&>(receiver), static_cast<Args&&>(args)...);
        });
    }
};

template <class Signature>
struct stored_result_of;
template <class Tag, class... Args>
struct stored_result_of<Tag(Args...)> : identity<stored_result<Tag, Args...>> {};

/// Stores one of the completions `Signatures`, which are a result of stored_signatures. If storing
/// throws, it stores the exception instead.
template <class Signatures>
class result_store;
template <class... Signatures>
class result_store<ex::completion_signatures<Signatures...>> {
public:
    template <class Tag, class... Args>
    void store(Tag, Args&&... args) noexcept {
        using result = stored_result<Tag, std::decay_t<Args>...>;
        if constexpr (nothrow_decay_copyable<Args...>) {
            results_.template emplace<result>(ex::detail::from_values,
                                              static_cast<Args&&>(args)...);
        } else {
            try {
                results_.template emplace<result>(ex::detail::from_values,
                                                  static_cast<Args&&>(args)...);
            } catch (...) {
                store(ex::set_error_t{}, std::current_exception());
            }
        }
    }
    bool empty() const noexcept { return results_.empty(); }
    void reset() noexcept { results_.reset(); }

    /// Completes `receiver`, which may destroy this object.
    template <class Receiver>
    void deliver(Receiver& receiver) noexcept {
        results_.visit([&](auto& result) noexcept { result.deliver(receiver); });
    }

private:
    ex::detail::choice<typename stored_result_of<Signatures>::type...> results_;
};

EDDY_EX_END
}  // namespace eddy::detail
