#pragma once

/// The loop, its bare operations, and callbacks. For what is awaited, <eddy/io/io.hpp> and
/// <eddy/async/async.hpp>.
#include <eddy/base/version.hpp>
#include <eddy/loop/descriptor.hpp>
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
#include <eddy/watch/watches.hpp>
