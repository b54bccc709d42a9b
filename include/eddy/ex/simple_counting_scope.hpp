// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/detail/scope_base.hpp>
#include <eddy/ex/scope_token.hpp>

namespace eddy::ex {

/// Counts the work that runs under it. join() waits for all of the work. Thread: any.
/// Lifetime: must be joined before it is destroyed, unless no work was ever associated.
class simple_counting_scope {
public:
    using association = detail::counted_association<simple_counting_scope>;
    static constexpr std::size_t max_associations = detail::scope_base::max_associations;

    class token {
    public:
        template <sender Sender>
        Sender&& wrap(Sender&& sender) const noexcept {
            return static_cast<Sender&&>(sender);
        }
        association try_associate() const noexcept {
            return scope_->base_.associate() ? association(&scope_->base_) : association();
        }

    private:
        friend class simple_counting_scope;
        explicit token(simple_counting_scope* scope) noexcept : scope_(scope) {}
        simple_counting_scope* scope_;
    };

    token get_token() noexcept { return token(this); }
    void close() noexcept { base_.close(); }
    /// Returns a sender that completes when all work has ended.
    auto join() noexcept { return detail::join_sender{&base_}; }

private:
    detail::scope_base base_;
};

}  // namespace eddy::ex

#endif
