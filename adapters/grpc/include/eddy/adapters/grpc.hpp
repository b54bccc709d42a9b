// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/pollset/poll_domain.hpp>

/// eddy's pollsets as the polling engine of gRPC 1.51: the engine `eddy`, which gRPC uses if
/// GRPC_POLL_STRATEGY names it.

namespace eddy {

/// Makes the engine known to gRPC. Loading the library does it already; a program calls this so
/// that the linker keeps the library, which nothing else refers to.
/// Thread: before the first use of gRPC, which chooses its engine once and for all. Any number of
/// times.
[[gnu::visibility("default")]] void register_grpc_engine() noexcept;

/// Where gRPC's pollsets live; null unless gRPC has chosen the engine. Never destroyed.
/// Thread: any, after gRPC was initialised.
[[gnu::visibility("default")]] poll_domain* grpc_engine_domain() noexcept;

}  // namespace eddy
