// SPDX-License-Identifier: Apache-2.0

// Makes the domain of the engine, and converts and logs errors for gRPC.
#include "domain.hpp"

#include <eddy/adapters/grpc.hpp>
#include <eddy/base/assert.hpp>

#include <grpc/support/log.h>

#include <string>

namespace eddy {

namespace grpc_adapter {

namespace {

/// Runs closures immediately, because those of the adapter only put gRPC's closures into the list
/// of the thread. gRPC expects that a shutdown, or an event that came before, needs no poller.
class at_once final : public closure_executor {
public:
    void execute(closure& c) override { c.run(); }
};

at_once executor;
poll_domain* the_domain = nullptr;

}  // namespace

poll_domain& domain() noexcept {
    EDDY_ASSERT(the_domain != nullptr, "gRPC uses the engine without having chosen it");
    return *the_domain;
}

bool make_domain() noexcept {
    try {
        if (the_domain == nullptr) {
            the_domain = new poll_domain({.executor = &executor});
        }
        return true;
    } catch (const std::exception& e) {
        gpr_log(GPR_ERROR, "eddy: no polling engine: %s", e.what());
        return false;
    }
}

absl::Status to_status(std::error_code error, const char* what) {
    return error ? absl::InternalError(std::string(what) + ": " + error.message())
                 : absl::OkStatus();
}

void log_if(std::error_code error, const char* what) noexcept {
    if (error) {
        gpr_log(GPR_ERROR, "eddy: %s: %s", what, error.message().c_str());
    }
}

void log_unless_there(std::error_code error, const char* what) noexcept {
    if (error != std::errc::file_exists) {
        log_if(error, what);
    }
}

void log_unless_gone(std::error_code error, const char* what) noexcept {
    if (error != std::errc::no_such_file_or_directory) {
        log_if(error, what);
    }
}

}  // namespace grpc_adapter

poll_domain* grpc_engine_domain() noexcept { return grpc_adapter::the_domain; }

}  // namespace eddy
