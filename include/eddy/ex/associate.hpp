// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/detail/adaptor.hpp>
#include <eddy/ex/detail/choice.hpp>
#include <eddy/ex/scope_token.hpp>
#include <eddy/ex/sender_adaptor_closure.hpp>

#include <concepts>
#include <optional>
#include <type_traits>
#include <utility>

namespace eddy::ex {

namespace detail {

/// Destroys a child that was moved from, because no part of a child may outlive its association.
template <class Child>
class taken_child : immovable {
public:
    explicit taken_child(std::optional<Child>& child) noexcept : child_(child) {}
    ~taken_child() { child_.reset(); }
    Child&& get() const noexcept { return static_cast<Child&&>(*child_); }

private:
    std::optional<Child>& child_;
};

template <class Association, class Child>
struct associate_sender;

/// Holds the child's operation if there is an association, else the receiver, which is stopped.
template <class Association, class Child, class Receiver>
class associate_operation {
    using operation = operation_of<Child, Receiver>;
    static constexpr bool nothrow = connects_nothrow<Child, Receiver>;

public:
    using operation_state_concept = operation_state_tag;

    associate_operation(associate_sender<Association, Child>&& sender,
                        Receiver&& receiver) noexcept(nothrow)
        : association_(static_cast<Association&&>(sender.association)) {
        const taken_child<Child> child(sender.child);
        if (association_) {
            either_.template emplace_from<operation>([&]() noexcept(nothrow) -> operation {
                return connect_unchecked(child.get(), static_cast<Receiver&&>(receiver));
            });
        } else {
            either_.template emplace<Receiver>(static_cast<Receiver&&>(receiver));
        }
    }
    associate_operation(associate_operation&&) = delete;

    void start() & noexcept {
        if (association_) {
            either_.template get<operation>().start();
        } else {
            set_stopped(static_cast<Receiver&&>(either_.template get<Receiver>()));
        }
    }

private:
    Association association_;
    choice<operation, Receiver> either_;
};

/// A sender that holds its child only while it has an association.
template <class Association, class Child>
struct associate_sender {
    using sender_concept = sender_tag;

    template <class Sender, class Token>
    associate_sender(Sender&& sender, const Token& token)
        : child(std::in_place, token.wrap(static_cast<Sender&&>(sender))) {
        association = token.try_associate();
        if (!association) child.reset();
    }
    associate_sender(associate_sender&& other) noexcept(std::is_nothrow_move_constructible_v<Child>)
        : association(static_cast<Association&&>(other.association)) {
        const taken_child<Child> taken(other.child);
        if (association) child.emplace(taken.get());
    }
    /// Copies the sender. The copy is another piece of work of the scope.
    associate_sender(const associate_sender& other) noexcept(
        std::is_nothrow_copy_constructible_v<Child> && noexcept(other.association.try_associate()))
        requires std::copy_constructible<Child>
        : association(other.association.try_associate()) {
        if (association) child.emplace(*other.child);
    }

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() {
        return join_signatures_t<signatures_or_mistake<Child, Env...>,
                                 completion_signatures<set_stopped_t()>>{};
    }

    template <receiver Receiver>
        requires std::is_invocable_v<connect_unchecked_t, Child, Receiver>
    auto connect(Receiver receiver) && noexcept(connects_nothrow<Child, Receiver>) {
        return associate_operation<Association, Child, Receiver>(
            static_cast<associate_sender&&>(*this), static_cast<Receiver&&>(receiver));
    }
    /// Connects a copy, whether the sender is const or not: each operation needs an association.
    template <receiver Receiver>
        requires(std::copy_constructible<Child> &&
                 std::is_invocable_v<connect_unchecked_t, Child, Receiver>)
    auto connect(Receiver receiver) const& noexcept(
        std::is_nothrow_copy_constructible_v<associate_sender> &&
        connects_nothrow<Child, Receiver>) {
        return associate_operation<Association, Child, Receiver>(associate_sender(*this),
                                                                 static_cast<Receiver&&>(receiver));
    }

    Association association;
    std::optional<Child> child;
};

}  // namespace detail

/// Makes a sender that counts as work of a scope. The scope cannot be joined while the sender or
/// its operation exists. If the scope is closed, the sender completes as stopped.
struct associate_t {
    template <sender Sender, scope_token Token>
    constexpr auto operator()(Sender&& sender, const Token& token) const {
        using wrapped = std::remove_cvref_t<decltype(token.wrap(static_cast<Sender&&>(sender)))>;
        using result = detail::associate_sender<decltype(token.try_associate()), wrapped>;
        detail::check_early<result>();
        return result(static_cast<Sender&&>(sender), token);
    }
    template <scope_token Token>
    constexpr auto operator()(const Token& token) const {
        return detail::bound_closure(associate_t{}, token);
    }
};
inline constexpr associate_t associate{};

}  // namespace eddy::ex

#endif
