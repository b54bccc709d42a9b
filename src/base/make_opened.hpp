// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/call_failure.hpp"

#include <memory>
#include <new>
#include <system_error>
#include <utility>

namespace eddy {

/// Makes a `Made` from `args` and opens it. Stores it in `out` only if both steps worked.
template <class Made, class Base, class Open, class... Args>
call_failure make_opened(std::unique_ptr<Base>& out, Open&& open, Args&&... args) noexcept {
    std::unique_ptr<Made> made(new (std::nothrow) Made(std::forward<Args>(args)...));
    if (made == nullptr) {
        return out_of_memory();
    }
    const call_failure failure{open(*made)};
    if (!failure) {
        out = std::move(made);
    }
    return failure;
}

}  // namespace eddy
