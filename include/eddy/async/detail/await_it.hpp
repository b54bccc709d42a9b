#pragma once

#include <eddy/async/task.hpp>

#include <utility>

namespace eddy::detail {

EDDY_EX_BEGIN

/// A task of any sender, whose values are dropped.
template <class Sender>
task<> await_it(Sender sender) {
    co_await std::move(sender);
}

EDDY_EX_END

}  // namespace eddy::detail
