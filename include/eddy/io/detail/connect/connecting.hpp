// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/completions.hpp>
#include <eddy/ex/vocabulary.hpp>
#include <eddy/io/address.hpp>
#include <eddy/io/detail/connect/attach_socket.hpp>
#include <eddy/io/detail/sender/error_subject.hpp>
#include <eddy/io/detail/sender/steps.hpp>
#include <eddy/io/io_sender.hpp>
#include <eddy/loop/descriptor.hpp>
#include <eddy/loop/requests.hpp>

#include <system_error>
#include <utility>

namespace eddy::detail {
EDDY_EX_BEGIN

/// The Convert of a connect of an existing socket.
struct connecting_existing : as_void {
    address to;

    error_subject subject() const noexcept { return {"connect", to}; }
    void prepare(io_request& request) noexcept {
        request.data = const_cast<sockaddr*>(to.native());
        request.mode = to.native_length();
    }
};

/// Makes the socket when it is started, connects it, and closes it unless that succeeds.
template <class Socket>
struct connecting {
    using signature = ex::set_value_t(Socket);
    loop* home;
    address to;
    const char* name;       ///< the function, for exceptions
    bool no_delay = false;  ///< TCP only
    descriptor made = {};

    error_subject subject() const noexcept { return {name, to}; }
    step begin(io_request& request, std::error_code& error) noexcept {
        error = attach_socket<Socket>(*home, to, no_delay, made);
        if (error) {
            return step::failed;
        }
        request = eddy::connect(made, to.native(), to.native_length());
        return step::call;
    }
    step next(io_result, io_request&, std::error_code&) const noexcept { return step::done; }
    template <class Receiver>
    void complete(Receiver&& receiver) noexcept {
        ex::set_value(std::forward<Receiver>(receiver), Socket(std::move(made)));
    }
    void drop() noexcept { made.close(); }
};

EDDY_EX_END
}  // namespace eddy::detail
