// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/loop/lease.hpp>
#include <eddy/loop/loop.hpp>

namespace eddy {

/// The buffer that take_lease() finds while the completion of a receive is called.
struct loop::lent {
    const io_operation* op;
    lease buffer;
    lent* outer;  ///< of the completion inside which this one is called
};

}  // namespace eddy
