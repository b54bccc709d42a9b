// SPDX-License-Identifier: Apache-2.0

// Includes all kinds of watches, which call back on a loop.
#pragma once

#include <eddy/loop/bandwidth_group.hpp>
#include <eddy/watch/bidi_watch.hpp>
#include <eddy/watch/child_watch.hpp>
#include <eddy/watch/children_watch.hpp>
#include <eddy/watch/fd_watch.hpp>
#include <eddy/watch/loop_watch.hpp>
#include <eddy/watch/signal_watch.hpp>
#include <eddy/watch/timer_watch.hpp>
#include <eddy/watch/watch_handle.hpp>
