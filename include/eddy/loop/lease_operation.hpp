// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/engine/io_operation.hpp>
#include <eddy/loop/lease.hpp>
#include <eddy/loop/loop.hpp>

namespace eddy {

/// A receive, single or multishot, whose completion must take the buffer whenever there is one.
class lease_operation : public io_operation {
public:
    explicit lease_operation(callback on_complete) noexcept : io_operation(on_complete) {
        takes_lease_ = true;
    }

    /// Takes the buffer, inside the completion, in place of loop::take_lease(). Empty after an
    /// error and at the end of the stream.
    lease take_lease() noexcept { return loop::lease_of(*this); }
};

}  // namespace eddy
