// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>

#if EDDY_EX_BUILTIN

#include <eddy/ex/detail/scope_base.hpp>
#include <eddy/ex/detail/stop_when.hpp>
#include <eddy/ex/inplace_stop_token.hpp>
#include <eddy/ex/scope_token.hpp>

#include <type_traits>

namespace eddy::ex {

/// A simple_counting_scope whose work can be asked to stop. Thread: any.
class counting_scope {
public:
    using association = detail::counted_association<counting_scope>;
    static constexpr std::size_t max_associations = detail::scope_base::max_associations;

    class token {
    public:
        template <sender Sender>
        auto wrap(Sender&& sender) const
            noexcept(std::is_nothrow_constructible_v<std::remove_cvref_t<Sender>, Sender>) {
            return detail::stop_when_sender<std::remove_cvref_t<Sender>>{
                {}, static_cast<Sender&&>(sender), scope_->source_.get_token()};
        }
        association try_associate() const noexcept {
            return scope_->base_.associate() ? association(&scope_->base_) : association();
        }

    private:
        friend class counting_scope;
        explicit token(counting_scope* scope) noexcept : scope_(scope) {}
        counting_scope* scope_;
    };

    token get_token() noexcept { return token(this); }
    void close() noexcept { base_.close(); }
    /// Returns a sender that completes when all work has ended.
    auto join() noexcept { return detail::join_sender{&base_}; }
    void request_stop() noexcept { source_.request_stop(); }

private:
    detail::scope_base base_;
    inplace_stop_source source_;
};

}  // namespace eddy::ex

#endif
