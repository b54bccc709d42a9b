// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "abi.hpp"

#include <eddy/pollset/poll_domain.hpp>

#include <system_error>
#include <utility>

namespace eddy::grpc_adapter {

/// Where everything of the engine lives. Precondition: make_domain() was true.
poll_domain& domain() noexcept;
/// False if the kernel or EDDY_POLL_STRATEGY refuses; gRPC's log says why.
bool make_domain() noexcept;

/// Hands a closure of gRPC's to this thread's list; null is no closure.
inline void hand_over(grpc_closure* closure, absl::Status status = absl::OkStatus()) {
    grpc_core::ExecCtx::Run({__FILE__, __LINE__}, closure, std::move(status));
}

absl::Status to_status(std::error_code error, const char* what);
/// For what gRPC does not expect to fail.
void log_if(std::error_code error, const char* what) noexcept;
/// For what gRPC adds for each call that uses it.
void log_unless_there(std::error_code error, const char* what) noexcept;
/// For what a shutdown has removed already.
void log_unless_gone(std::error_code error, const char* what) noexcept;

}  // namespace eddy::grpc_adapter
