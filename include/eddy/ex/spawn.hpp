// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/connect.hpp>
#include <eddy/ex/detail/spawn.hpp>
#include <eddy/ex/scope_token.hpp>
#include <eddy/ex/write_env.hpp>

#include <type_traits>
#include <utility>

namespace eddy::ex {

namespace detail {

struct spawn_base : immovable {
    explicit spawn_base(void (*function)(spawn_base&) noexcept) noexcept : ended(function) {}
    void (*const ended)(spawn_base&) noexcept;
};

struct spawn_receiver {
    using receiver_concept = receiver_tag;
    spawn_base* state;
    void set_value() noexcept { state->ended(*state); }
    void set_stopped() noexcept { state->ended(*state); }
};

template <class Allocator, class Token, class Sender>
class spawn_state : spawn_base {
public:
    spawn_state(const Allocator& allocator, Sender&& sender, const Token& token)
        : spawn_base([](spawn_base& base) noexcept { static_cast<spawn_state&>(base).destroy(); }),
          allocator_(allocator),
          operation_(connect_unchecked(static_cast<Sender&&>(sender), spawn_receiver{this})),
          association_(token.try_associate()) {}

    void run() noexcept {
        if (association_) {
            operation_.start();
        } else {
            destroy();
        }
    }

private:
    /// Frees the memory before the association ends, because a join may destroy the memory's
    /// allocator.
    void destroy() noexcept {
        const auto association = std::move(association_);
        const Allocator allocator(std::move(allocator_));
        detail::free_object(allocator, this);
    }

    [[no_unique_address]] Allocator allocator_;
    operation_of<Sender, spawn_receiver> operation_;
    decltype(std::declval<const Token&>().try_associate()) association_;
};

}  // namespace detail

/// Starts a sender as work of a scope, in memory from the allocator of `environment` or of the
/// sender. Does nothing if the scope is closed. Throws the exceptions of allocating and connecting.
struct spawn_t {
    template <sender Sender, scope_token Token, class Env = env<>>
    void operator()(Sender&& sender, Token token, Env environment = {}) const {
        auto wrapped = token.wrap(static_cast<Sender&&>(sender));
        const auto allocator = detail::spawn_allocator(environment, get_env(wrapped));
        auto inner = detail::spawn_env(static_cast<Env&&>(environment), get_env(wrapped));
        auto work = write_env(std::move(wrapped), std::move(inner));
        using work_sender = decltype(work);
        if constexpr (!sender_in<work_sender, env<>>) {
            detail::explain_sender<work_sender, env<>>();
        } else {
            static_assert(sender_to<work_sender, detail::spawn_receiver>,
                          "spawn: the sender must complete without values, and cannot fail");
            if constexpr (sender_to<work_sender, detail::spawn_receiver>) {
                using state = detail::spawn_state<std::remove_const_t<decltype(allocator)>, Token,
                                                  work_sender>;
                detail::allocate_object<state>(allocator, allocator, std::move(work), token)->run();
            }
        }
    }
};
inline constexpr spawn_t spawn{};

}  // namespace eddy::ex

#endif
