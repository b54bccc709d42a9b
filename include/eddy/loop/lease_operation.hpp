// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/engine/io_operation.hpp>
#include <eddy/loop/lease.hpp>
#include <eddy/loop/loop.hpp>

namespace eddy {

/// A receive, perhaps a multishot one, whose completion must take the buffer out of it, each time
/// that there is one.
class lease_operation : public io_operation {
public:
    explicit lease_operation(callback on_complete) noexcept : io_operation(on_complete) {
        takes_lease_ = true;
    }

    /// In its completion, instead of loop::take_lease(). Empty: there was an error, or the end.
    lease take_lease() noexcept { return loop::lease_of(*this); }
};

}  // namespace eddy
