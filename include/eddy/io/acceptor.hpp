#pragma once

#include <eddy/ex/vocabulary.hpp>
#include <eddy/io/detail/converts.hpp>
#include <eddy/io/io_sender.hpp>
#include <eddy/io/socket.hpp>
#include <eddy/loop/requests.hpp>

namespace eddy {
EDDY_EX_BEGIN

/// A listening socket whose connections become `Socket`s.
///
/// Connections that are gone again are skipped. Without descriptors or memory the error is reported
/// (`too_many_files_open` and the like), and the next accept waits a little before it tries again.
template <class Socket>
class acceptor_of : public socket_of<io_handle> {
public:
    using socket_of::socket_of;
    using socket_type = Socket;

    /// Value: a `Socket` on the same loop.
    auto accept() const noexcept {
        using convert = detail::as_handle<Socket>;
        return io_sender<convert>(home(), eddy::accept(descriptor_),
                                  convert{home(), {.kind = Socket::kind}});
    }
    /// Value: a unique_fd, for another loop to adopt: `Socket(other, std::move(fd))`.
    auto accept_fd() const noexcept {
        return io_sender<detail::as_fd>(home(), eddy::accept(descriptor_));
    }
};

EDDY_EX_END
}  // namespace eddy
