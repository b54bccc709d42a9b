// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/async/nursery.hpp>
#include <eddy/async/report_exception.hpp>
#include <eddy/async/task.hpp>
#include <eddy/base/config.hpp>

#include <exception>
#include <utility>

namespace eddy {

EDDY_EX_BEGIN

/// Accepts connections, and runs `session(socket)`, a task, for each of them. Being stopped stops
/// the sessions too, and waits for them.
///
///     loop.run(eddy::serve_each(eddy::tcp::acceptor(loop, where), echo));
///
/// No connection ends the others: what its session throws goes to `on_error`, by default a line on
/// standard error. So does the std::bad_alloc of a connection that there is no memory for, which is
/// closed. Throws what accept() fails with, and what `on_error` throws.
///
/// Thread: that of the acceptor's loop.
template <class Acceptor, class Session, class OnError = report_exception>
task<> serve_each(Acceptor acceptor, Session session, OnError on_error = {}) {
    co_await with_nursery([&](nursery& sessions) -> task<> {
        const auto report = [&on_error](std::exception_ptr error) { on_error(std::move(error)); };
        for (;;) {
            auto peer = co_await acceptor.accept();
            try {
                sessions.start(session(std::move(peer)), report);
            } catch (...) {
                report(std::current_exception());
            }
        }
    });
}

EDDY_EX_END

}  // namespace eddy
