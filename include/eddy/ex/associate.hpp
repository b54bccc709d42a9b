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

/// Either the child's operation, under the association, or only the receiver, to be stopped.
template <class Association, class Child, class Receiver>
class associate_operation {
    using operation = operation_of<Child, Receiver>;

public:
    using operation_state_concept = operation_state_tag;

    associate_operation(Association&& association, std::optional<Child>&& child,
                        Receiver&& receiver) noexcept(connects_nothrow<Child, Receiver>)
        : association_(static_cast<Association&&>(association)) {
        if (association_) {
            either_.template emplace_from<operation>(
                [&]() noexcept(connects_nothrow<Child, Receiver>) -> operation {
                    return connect_unchecked(static_cast<Child&&>(*child),
                                             static_cast<Receiver&&>(receiver));
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

template <class Association, class Child>
struct associate_sender {
    using sender_concept = sender_tag;

    associate_sender(Association a, auto&& make_child)
        : association(static_cast<Association&&>(a)) {
        if (association) child.emplace(make_child());
    }
    associate_sender(associate_sender&&) = default;
    /// A copy is another piece of work of the scope.
    associate_sender(const associate_sender& other) requires std::copy_constructible<Child>
        : association(other.association.try_associate()) {
        if (association) child.emplace(*other.child);
    }

    template <class Self, class... Env>
    static consteval auto get_completion_signatures() {
        return join_signatures_t<signatures_or_mistake<Child, Env...>,
                                 completion_signatures<set_stopped_t()>>{};
    }

    template <receiver Receiver>
    auto connect(Receiver receiver) && noexcept(connects_nothrow<Child, Receiver>) {
        return associate_operation<Association, Child, Receiver>(
            static_cast<Association&&>(association), std::move(child),
            static_cast<Receiver&&>(receiver));
    }
    template <receiver Receiver>
        requires std::copy_constructible<Child>
    auto connect(Receiver receiver) const& {
        return associate_sender(*this).move_connect(static_cast<Receiver&&>(receiver));
    }
    template <class Receiver>
    auto move_connect(Receiver&& receiver) {
        return associate_operation<Association, Child, Receiver>(
            static_cast<Association&&>(association), std::move(child),
            static_cast<Receiver&&>(receiver));
    }

    Association association;
    std::optional<Child> child;
};

}  // namespace detail

/// A sender that is work of a scope: as long as it or its operation exists, the scope cannot be
/// joined. If the scope is closed, it is stopped.
struct associate_t {
    template <sender Sender, scope_token Token>
    constexpr auto operator()(Sender&& sender, Token&& token) const {
        using wrapped = std::remove_cvref_t<decltype(token.wrap(static_cast<Sender&&>(sender)))>;
        using association = decltype(token.try_associate());
        wrapped child(token.wrap(static_cast<Sender&&>(sender)));
        return detail::associate_sender<association, wrapped>(
            token.try_associate(), [&]() -> wrapped&& { return static_cast<wrapped&&>(child); });
    }
    template <scope_token Token>
    constexpr auto operator()(Token&& token) const {
        return detail::bound_closure(associate_t{}, static_cast<Token&&>(token));
    }
};
inline constexpr associate_t associate{};

}  // namespace eddy::ex

#endif
