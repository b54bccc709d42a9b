// SPDX-License-Identifier: Apache-2.0

// Everything that eddy offers. A file compiles faster if it includes only what it uses: each header
// is named after the one thing that it declares.
#pragma once

#include <eddy/async/async.hpp>
#include <eddy/async/permit.hpp>
#include <eddy/base/clock.hpp>
#include <eddy/base/error.hpp>
#include <eddy/base/report.hpp>
#include <eddy/base/result.hpp>
#include <eddy/base/version.hpp>
#include <eddy/ex/execution.hpp>
#include <eddy/io/io.hpp>
#include <eddy/loop/descriptor.hpp>
#include <eddy/loop/embedding.hpp>
#include <eddy/loop/lease.hpp>
#include <eddy/loop/loop.hpp>
#include <eddy/loop/loop_group.hpp>
#include <eddy/loop/requests.hpp>
#include <eddy/os/block_signals.hpp>
#include <eddy/os/child_source.hpp>
#include <eddy/os/process_handle.hpp>
#include <eddy/os/process_reservation.hpp>
#include <eddy/os/signal_source.hpp>
#include <eddy/os/stop_on_signals.hpp>
#include <eddy/pollset/poll_domain.hpp>
#include <eddy/pollset/poll_handle.hpp>
#include <eddy/pollset/pollset.hpp>
#include <eddy/pollset/pollset_set.hpp>
#include <eddy/pollset/pollset_timer.hpp>
#include <eddy/pollset/pollset_watch.hpp>
#include <eddy/pollset/sender.hpp>
#include <eddy/watch/watches.hpp>
