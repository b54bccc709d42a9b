// SPDX-License-Identifier: Apache-2.0
// Accepted connections in a program that was started with its standard streams closed.
#include "kernel/call.hpp"
#include "support/engine_fixture.hpp"
#include "support/in_child.hpp"
#include "support/standard_fds.hpp"

#include <cerrno>
#include <memory>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>

namespace eddy::test::standard_fd_accept_test {
namespace {

using StandardFdAccept = EngineTest;
EDDY_ON_EVERY_ENGINE(StandardFdAccept);

/// Accepts one connection, and is cancelled inside the completion with it.
class first_only : public io_operation {
public:
    explicit first_only(eddy::loop& home) : io_operation(&on_result), home_(home) {}
    const std::vector<io_result>& results() const { return results_; }

private:
    static void on_result(io_operation& op) noexcept {
        auto& self = static_cast<first_only&>(op);
        self.results_.push_back(op.result());
        if (op.more()) {
            self.home_.cancel(self);
        }
    }

    eddy::loop& home_;
    std::vector<io_result> results_;
};

void connect_to(unsigned short port, const unique_fd& client) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    ::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

/// On io_uring the kernel has accepted the second connection too before the first is told. There is
/// no number above 2 for it, so it is closed, and the kernel still has the operation.
TEST_P(StandardFdAccept, EndsOnceWhenItIsCancelledBeforeAConnectionThatIsRefused) {
    const int ended = in_child([] {
        tcp_listener listener;
        const unsigned short port = listener.port();
        const unique_fd clients[] = {tcp_socket(), tcp_socket()};
        eddy::loop fresh({.engine = GetParam()});
        descriptor listening(fresh, listener.take());
        auto accepting = std::make_unique<first_only>(fresh);
        fresh.start(*accepting, accept_multishot(listening));
        fresh.poll();
        close_standard_fds();
        kernel::fail(kernel::call::dupfd, EMFILE, 1);
        for (const unique_fd& client : clients) {
            connect_to(port, client);
        }
        while (accepting->pending()) {
            fresh.run_some();
        }
        kernel::fail_nothing();
        const std::vector<io_result> results = accepting->results();
        accepting.reset();
        fresh.poll();  // nothing of it is left in the kernel, or in the listener's list
        if (results.size() != 2 || !results[0].ok()) {
            return 1;
        }
        return results[1].system_error() == ECANCELED ? 0 : 2;
    });
    EXPECT_EQ(ended, 0);
}

}  // namespace
}  // namespace eddy::test::standard_fd_accept_test
