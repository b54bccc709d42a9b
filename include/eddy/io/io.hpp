// SPDX-License-Identifier: Apache-2.0

// Includes the whole room `io`. Including only the headers that a file uses compiles faster.
#pragma once

#include <eddy/io/address.hpp>
#include <eddy/io/buffered.hpp>
#include <eddy/io/bytes.hpp>
#include <eddy/io/children.hpp>
#include <eddy/io/file.hpp>
#include <eddy/io/in_turn.hpp>
#include <eddy/io/incoming.hpp>
#include <eddy/io/local/bound.hpp>
#include <eddy/io/local/socket.hpp>
#include <eddy/io/loop_scheduler.hpp>
#include <eddy/io/pipe.hpp>
#include <eddy/io/process.hpp>
#include <eddy/io/read_until.hpp>
#include <eddy/io/run.hpp>
#include <eddy/io/send_file.hpp>
#include <eddy/io/signal.hpp>
#include <eddy/io/stream.hpp>
#include <eddy/io/tcp/acceptor.hpp>
#include <eddy/io/tcp/connect_any.hpp>
#include <eddy/io/tcp/listen_on_each.hpp>
#include <eddy/io/tcp/socket.hpp>
#include <eddy/io/udp/socket.hpp>
