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
/// Accepting survives errors that pass. Connections that are gone again are skipped. While there
/// are no descriptors or no memory (`too_many_files_open` and the like), connections wait in the
/// backlog, and an accept goes on as soon as there is room: it tries every 50 ms. A connection that
/// cannot be attached to the loop is closed, and the next one is accepted. The first failure of a
/// row is reported (<eddy/base/report.hpp>). So a loop around accept() needs no handling of errors:
/// those that it throws are of the listener itself, and last. A task that awaits accept() needs no
/// memory for that.
///
/// With `accept_errors::every`, each of these failures is an error of the accept that met it. The
/// next accept still waits 50 ms before it tries again.
template <class Socket>
class acceptor_of : public socket_of<io_handle> {
public:
    using socket_of::socket_of;
    using socket_type = Socket;

    /// Value: a `Socket` on the same loop.
    auto accept(accept_errors errors = accept_errors::lasting) const noexcept {
        using convert = detail::as_connection<Socket>;
        return io_sender<convert>(home(), eddy::accept(descriptor_, 0, errors),
                                  convert(home(), errors));
    }
    /// Value: a unique_fd, for another loop to adopt: `Socket(other, std::move(fd))`.
    auto accept_fd(accept_errors errors = accept_errors::lasting) const noexcept {
        return io_sender<detail::as_accepted_fd>(home(), eddy::accept(descriptor_, 0, errors));
    }
};

EDDY_EX_END
}  // namespace eddy
