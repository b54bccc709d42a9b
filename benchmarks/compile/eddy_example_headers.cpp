// SPDX-License-Identifier: Apache-2.0
// What examples/echo_coroutine.cpp includes of eddy, and nothing else: what of its compilation is
// there before it says anything.

#include <eddy/async/nursery.hpp>
#include <eddy/async/spawn.hpp>
#include <eddy/async/task.hpp>
#include <eddy/base/unique_fd.hpp>
#include <eddy/io/bytes.hpp>
#include <eddy/io/run.hpp>
#include <eddy/io/stream.hpp>
#include <eddy/io/tcp/acceptor.hpp>
#include <eddy/loop/loop.hpp>
