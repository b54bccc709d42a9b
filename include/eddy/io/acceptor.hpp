// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/ex/vocabulary.hpp>
#include <eddy/io/detail/connect/as_connection.hpp>
#include <eddy/io/detail/convert/converts.hpp>
#include <eddy/io/io_sender.hpp>
#include <eddy/io/socket.hpp>
#include <eddy/loop/requests.hpp>

namespace eddy {
EDDY_EX_BEGIN

/// A listening socket whose connections become `Socket`s.
///
/// Accepting survives transient errors. A connection that is gone already is skipped. While there
/// are no descriptors or no memory (`too_many_files_open` and the like), connections wait in the
/// backlog, and the accept tries again every 50 ms. The first such failure of a row is reported
/// (<eddy/base/report.hpp>). A connection that cannot be attached to the loop is closed and
/// reported, and the next one is accepted. So a loop around accept() needs no error handling: an
/// error that it throws concerns the listener itself, and is permanent. A task that awaits accept()
/// needs no memory for the wait.
///
/// With `accept_errors::every`, each of these failures is an error of the accept that met it. The
/// next accept still waits 50 ms before it tries again.
template <class Socket>
class acceptor_of : public socket_of<io_handle> {
public:
    using socket_of::socket_of;
    using socket_type = Socket;

    /// Accepts a connection. Value: a `Socket` on the same loop.
    auto accept(accept_errors errors = accept_errors::lasting) const noexcept {
        using convert = detail::as_connection<Socket>;
        return io_sender<convert>(home(), eddy::accept(descriptor_, 0, errors),
                                  convert(home(), errors));
    }
    /// Accepts a connection. Value: a unique_fd for another loop, `Socket(other, std::move(fd))`.
    auto accept_fd(accept_errors errors = accept_errors::lasting) const noexcept {
        return io_sender<detail::as_accepted_fd>(home(), eddy::accept(descriptor_, 0, errors));
    }
};

EDDY_EX_END
}  // namespace eddy
