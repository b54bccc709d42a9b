// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "abi.hpp"

#include <eddy/pollset/poll_domain.hpp>

#include <system_error>
#include <utility>

namespace eddy::grpc_adapter {

/// Returns the domain of the engine. Precondition: make_domain() has returned true.
poll_domain& domain() noexcept;
/// Makes the domain. Returns false, and logs to gRPC, if the kernel or EDDY_POLL_STRATEGY refuses.
bool make_domain() noexcept;

/// Puts a closure of gRPC into this thread's list; a null closure is ignored.
inline void hand_over(grpc_closure* closure, absl::Status status = absl::OkStatus()) {
    grpc_core::ExecCtx::Run({__FILE__, __LINE__}, closure, std::move(status));
}

absl::Status to_status(std::error_code error, const char* what);
/// Logs an error of a function that gRPC does not expect to fail.
void log_if(std::error_code error, const char* what) noexcept;
/// Logs an error, unless the thing was there: gRPC adds some things for each call that uses them.
void log_unless_there(std::error_code error, const char* what) noexcept;
/// Logs an error, unless the thing was gone: a shutdown may have removed it already.
void log_unless_gone(std::error_code error, const char* what) noexcept;

}  // namespace eddy::grpc_adapter
