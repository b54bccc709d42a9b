#pragma once

#include <eddy/ex/vocabulary.hpp>
#include <eddy/io/acceptor.hpp>
#include <eddy/io/address.hpp>
#include <eddy/io/tcp/listen.hpp>
#include <eddy/io/tcp/socket.hpp>
#include <eddy/loop/loop_group.hpp>

#include <system_error>
#include <utility>
#include <vector>

namespace eddy::tcp {
EDDY_EX_BEGIN

/// Listens for TCP connections.
///
///     tcp::acceptor acceptor(loop, address::loopback_v4(8080));
///     for (;;) {
///         spawn(loop, serve(co_await acceptor.accept()));
///     }
class acceptor : public acceptor_of<socket> {
public:
    using acceptor_of::acceptor_of;

    /// Throws std::system_error with the address in its message.
    acceptor(loop& home, const address& where, const listen_options& options = {}) {
        detail::throw_if(listen(home, where, *this, options), "tcp::acceptor", where);
    }
    /// The same without exceptions: `out` is unchanged on error.
    static std::error_code listen(loop& home, const address& where, acceptor& out,
                                  const listen_options& options = {}) noexcept {
        unique_fd fd;
        if (auto error = open_listener(where, options, fd)) {
            return error;
        }
        return adopt(home, fd, out, {.kind = descriptor_kind::tcp});
    }
};

/// One acceptor for each loop of the group, in their order, all on the same address; the kernel
/// spreads the connections over them (SO_REUSEPORT). With port 0 the first one chooses it. Throws
/// std::system_error.
///
/// Thread: before the group is started; then each acceptor belongs to the thread of its loop. They
/// must not outlive the group, and may be destroyed when it was joined.
inline std::vector<acceptor> listen_on_each(loop_group& group, address where,
                                            listen_options options = {}) {
    options.reuse_port = true;
    std::vector<acceptor> made;
    made.reserve(group.size());
    for (std::size_t i = 0; i != group.size(); ++i) {
        made.emplace_back(group.at(i), where, options);
        detail::throw_if(made.front().local_address(where), "tcp::listen_on_each", where);
    }
    return made;
}

EDDY_EX_END
}  // namespace eddy::tcp
