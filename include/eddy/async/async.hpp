// SPDX-License-Identifier: Apache-2.0

// Includes all of `async`, and loop.run(task). Including only what a file uses compiles faster.
#pragma once

#include <eddy/async/allocator_resource.hpp>
#include <eddy/async/as_result.hpp>
#include <eddy/async/async_mutex.hpp>
#include <eddy/async/channel.hpp>
#include <eddy/async/event.hpp>
#include <eddy/async/finally.hpp>
#include <eddy/async/nursery.hpp>
#include <eddy/async/rate_limiter.hpp>
#include <eddy/async/repeat.hpp>
#include <eddy/async/report_exception.hpp>
#include <eddy/async/retry.hpp>
#include <eddy/async/semaphore.hpp>
#include <eddy/async/serve_each.hpp>
#include <eddy/async/sleep.hpp>
#include <eddy/async/spawn.hpp>
#include <eddy/async/task.hpp>
#include <eddy/async/timeout.hpp>
#include <eddy/async/when_any.hpp>
#include <eddy/io/run.hpp>

// The senders that are most often combined with tasks.
#include <eddy/ex/just.hpp>
#include <eddy/ex/read_env.hpp>
#include <eddy/ex/stopped_as_optional.hpp>
#include <eddy/ex/then.hpp>
#include <eddy/ex/unstoppable.hpp>
#include <eddy/ex/write_env.hpp>
