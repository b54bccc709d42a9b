// SPDX-License-Identifier: Apache-2.0

// Makes eddy's pollsets the polling engine `eddy` of gRPC 1.51, which gRPC uses if
// GRPC_POLL_STRATEGY names it.
#pragma once

#include <eddy/pollset/poll_domain.hpp>

namespace eddy {

/// Registers the engine with gRPC. Loading the library does so already; a program calls this
/// function, any number of times, so that the linker keeps the library, to which nothing else
/// refers.
/// Thread: before the first use of gRPC, which chooses its engine once and for all.
[[gnu::visibility("default")]] void register_grpc_engine() noexcept;

/// Returns the domain of gRPC's pollsets, or null unless gRPC has chosen the engine. It is never
/// destroyed. Thread: any, after gRPC was initialised.
[[gnu::visibility("default")]] poll_domain* grpc_engine_domain() noexcept;

}  // namespace eddy
