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

/// Accepts connections, and runs the task `session(socket)` for each of them. A stop also stops the
/// sessions, and waits for them.
///
///     loop.run(eddy::serve_each(eddy::tcp::acceptor(loop, where), echo));
///
/// A session that fails does not end the others: its exception goes to `on_error`, by default a
/// line on standard error. A connection for which there is no memory is closed, and its
/// std::bad_alloc goes to `on_error` too. Throws the errors of accept(), and what `on_error`
/// throws.
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
