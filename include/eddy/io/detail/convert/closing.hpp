// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/completions.hpp>
#include <eddy/ex/vocabulary.hpp>
#include <eddy/io/detail/sender/steps.hpp>
#include <eddy/loop/descriptor.hpp>
#include <eddy/loop/requests.hpp>

#include <system_error>
#include <utility>

namespace eddy::detail {
EDDY_EX_BEGIN

/// Owns a descriptor until its close begins, so that a sender that never starts closes it too.
struct closing {
    using signature = ex::set_value_t();
    descriptor closed;

    step begin(io_request& request, std::error_code&) noexcept {
        request = eddy::close(closed);
        return step::call;
    }
    step next(io_result, io_request&, std::error_code&) const noexcept { return step::done; }
    template <class Receiver>
    void complete(Receiver&& receiver) const noexcept {
        ex::set_value(std::forward<Receiver>(receiver));
    }
    void drop() noexcept { closed.close(); }
};

EDDY_EX_END
}  // namespace eddy::detail
