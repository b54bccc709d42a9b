// SPDX-License-Identifier: Apache-2.0
// Echo on eddy's readiness waits, the style of callback libraries: one multishot wait on each
// connection, the calls made by the program itself, and one buffer for all.

#include <array>
#include <memory>

#include "common/eddy_loop.hpp"
#include "echo/backlog.hpp"
#include "echo/listener.hpp"

namespace {

std::array<char, bench::read_max> buffer;

/// Deletes itself when its peer is gone and the wait has ended.
class connection {
public:
    connection(eddy::loop& loop, eddy::unique_fd socket)
        : loop_(loop), socket_(loop, std::move(socket), {.kind = eddy::descriptor_kind::tcp}) {
        fd_ = socket_.native_handle();
        loop_.start<&connection::readable_, &connection::on_readable>(
            *this,
            eddy::wait_multishot(socket_, eddy::interest::readable | eddy::interest::peer_closed));
    }

private:
    void on_readable(eddy::io_result result) noexcept {
        ended_ = !readable_.more();
        to_the_end_ |= ended_ || any(ready_set(result) & eddy::interest::peer_closed);
        proceed();
    }

    void on_writable() noexcept { proceed(); }

    /// What it starts or cancels may complete inside this call: only the outermost one deletes.
    void proceed() noexcept {
        ++depth_;
        if (!broken_ && !can_go_on()) end();
        --depth_;
        const bool writing = writable_ && writable_->pending();
        if (ended_ && !writing && depth_ == 0) delete this;
    }

    bool can_go_on() noexcept {
        const bool writing = writable_ && writable_->pending();
        return writing || ((out_.empty() || out_.flush(fd_)) && drain());
    }

    /// A short read proves that TCP is drained, unless the end was seen. False: broken.
    bool drain() noexcept {
        for (bool more = true; more && out_.empty();) {
            const ssize_t n = ::recv(fd_, buffer.data(), buffer.size(), MSG_DONTWAIT);
            if (n <= 0) return n < 0 && errno == EAGAIN;
            if (!out_.send(fd_, buffer.data(), static_cast<std::size_t>(n))) return false;
            more = to_the_end_ || static_cast<std::size_t>(n) == buffer.size();
        }
        if (!out_.empty()) wait_for_room();
        return true;
    }

    /// Rare, so that an idle connection pays for one pointer only.
    struct room_wait : eddy::io_operation {
        explicit room_wait(connection& c) noexcept : owner(c) {
            set_callback([](eddy::io_operation& op) noexcept {
                static_cast<room_wait&>(op).owner.on_writable();
            });
        }
        connection& owner;
    };

    void wait_for_room() {
        if (!writable_) writable_ = std::make_unique<room_wait>(*this);
        loop_.start(*writable_, eddy::wait(socket_, eddy::interest::writable));
    }

    void end() noexcept {
        broken_ = true;
        if (readable_.pending()) loop_.cancel(readable_);
    }

    eddy::loop& loop_;
    eddy::descriptor socket_;
    eddy::io_operation readable_;
    std::unique_ptr<room_wait> writable_;
    bench::backlog out_;
    int fd_ = -1;
    unsigned depth_ = 0;
    bool to_the_end_ = false;  // no news will come: read until there is nothing
    bool ended_ = false;       // the wait for reading
    bool broken_ = false;      // nothing more can be read or written
};

class server {
public:
    server(eddy::loop& loop, int listener)
        : loop_(loop), listener_(loop, eddy::unique_fd(listener), {.name = "listener"}) {
        loop_.start<&server::io_, &server::on_accepted>(*this, eddy::accept_multishot(listener_));
    }

private:
    void on_accepted(eddy::io_result result) noexcept {
        if (result) new connection(loop_, eddy::unique_fd(result.fd()));
    }

    eddy::loop& loop_;
    eddy::descriptor listener_;
    eddy::io_operation io_;
};

}  // namespace

int main(int argc, char** argv) {
    const int port = bench::port_argument(argc, argv);
    bench::eddy_loop loop;
    server s(loop.get(), bench::listen_on(port));
    loop->run();
}
