// SPDX-License-Identifier: Apache-2.0
// Echo on bare io_uring: multishot accept, multishot receive into a buffer ring, sends out of the
// same buffers, one io_uring_enter a turn.
// BENCH_RECEIVES=single: a receive after another, each when what came before was sent.

#include <fcntl.h>
#include <liburing.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include "echo/buffer_ring.hpp"
#include "echo/listener.hpp"

namespace {

const bool goes_on = std::getenv("BENCH_RECEIVES") == nullptr;

/// A received buffer on its way back to the peer; linked in the order of arrival.
struct piece {
    int next = -1;
    unsigned length = 0;
};

struct connection {
    int fd;
    int first = -1;  // its send is under way; one at a time keeps the bytes in order
    int last = -1;
    bool receiving = false;
    bool ended = false;
    connection* next_starved = nullptr;
};

enum class tag : std::uintptr_t { receive = 0, send = 1 };

class server {
public:
    /// The ring comes first: where it is denied, no port is announced.
    explicit server(int port) : buffers_(make_ring()), listener_(bench::listen_on(port)) {
        // A non-blocking file would make io_uring answer EAGAIN instead of waiting.
        bench::must(::fcntl(listener_, F_SETFL, 0), "F_SETFL");
        accept();
    }

    [[noreturn]] void run() {
        for (;;) {
            io_uring_submit_and_wait(&ring_, 1);
            io_uring_cqe* cqe = nullptr;
            unsigned head = 0;
            unsigned taken = 0;
            io_uring_for_each_cqe(&ring_, head, cqe) {
                complete(*cqe);
                ++taken;
            }
            io_uring_cq_advance(&ring_, taken);
            buffers_.publish();
            feed_starved();
        }
    }

private:
    static constexpr unsigned entries = 1024;

    io_uring& make_ring() {
        io_uring_params p{};
        p.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
                  IORING_SETUP_SUBMIT_ALL | IORING_SETUP_CQSIZE;
        p.cq_entries = 4 * entries;
        const int error = -io_uring_queue_init_params(entries, &ring_, &p);
        if (error != 0) bench::unavailable("io_uring_setup", error);
        io_uring_register_ring_fd(&ring_);
        return ring_;
    }

    io_uring_sqe& next_sqe() {
        io_uring_sqe* sqe = io_uring_get_sqe(&ring_);
        while (sqe == nullptr) {
            io_uring_submit(&ring_);
            sqe = io_uring_get_sqe(&ring_);
        }
        return *sqe;
    }

    void accept() {
        io_uring_sqe& sqe = next_sqe();
        io_uring_prep_multishot_accept(&sqe, listener_, nullptr, nullptr, SOCK_CLOEXEC);
        io_uring_sqe_set_data(&sqe, nullptr);
    }

    void receive(connection& c) {
        io_uring_sqe& sqe = next_sqe();
        if (goes_on) {
            io_uring_prep_recv_multishot(&sqe, c.fd, nullptr, 0, 0);
        } else {
            io_uring_prep_recv(&sqe, c.fd, nullptr, bench::buffer_ring::size, 0);
        }
        sqe.flags |= IOSQE_BUFFER_SELECT;
        sqe.buf_group = bench::buffer_ring::group;
        mark(sqe, c, tag::receive);
        c.receiving = true;
    }

    /// MSG_WAITALL: a send ends when all of it was taken, so no rest has to be kept.
    void send_first(connection& c) {
        const auto id = static_cast<unsigned short>(c.first);
        io_uring_sqe& sqe = next_sqe();
        io_uring_prep_send(&sqe, c.fd, buffers_.at(id), pieces_[id].length,
                           MSG_NOSIGNAL | MSG_WAITALL);
        mark(sqe, c, tag::send);
    }

    static void mark(io_uring_sqe& sqe, connection& c, tag what) {
        io_uring_sqe_set_data64(
            &sqe, reinterpret_cast<std::uintptr_t>(&c) | static_cast<std::uintptr_t>(what));
    }

    void complete(const io_uring_cqe& cqe) {
        const std::uintptr_t data = cqe.user_data;
        if (data == 0) return on_accepted(cqe);
        auto& c = *reinterpret_cast<connection*>(data & ~std::uintptr_t{1});
        (data & 1) != 0 ? on_sent(c, cqe) : on_received(c, cqe);
        if (c.ended && !c.receiving && c.first < 0) {
            ::close(c.fd);
            delete &c;
        }
    }

    void on_accepted(const io_uring_cqe& cqe) {
        if ((cqe.flags & IORING_CQE_F_MORE) == 0) accept();
        if (cqe.res >= 0) receive(*new connection{.fd = cqe.res});
    }

    void on_received(connection& c, const io_uring_cqe& cqe) {
        c.receiving = (cqe.flags & IORING_CQE_F_MORE) != 0;
        if (cqe.res > 0) {
            append(c, static_cast<int>(cqe.flags >> IORING_CQE_BUFFER_SHIFT),
                   static_cast<unsigned>(cqe.res));
        } else if (cqe.res != -ENOBUFS) {
            c.ended = true;
        }
        const bool sends = c.first >= 0;
        if (!c.receiving && !c.ended && (goes_on || !sends)) starve(c);
    }

    void append(connection& c, int id, unsigned length) {
        ++in_use_;
        pieces_[id] = {.next = -1, .length = length};
        if (c.first < 0) {
            c.first = c.last = id;
            send_first(c);
        } else {
            pieces_[c.last].next = id;
            c.last = id;
        }
    }

    void on_sent(connection& c, const io_uring_cqe& cqe) {
        if (cqe.res < 0) c.ended = true;
        do {  // after an error nothing more can be sent: all buffers go back
            const int id = c.first;
            c.first = pieces_[id].next;
            buffers_.give_back(static_cast<unsigned short>(id));
            --in_use_;
        } while (cqe.res < 0 && c.first >= 0);
        if (c.first >= 0) {
            send_first(c);
        } else if (!goes_on && !c.receiving && !c.ended) {
            receive(c);
        }
    }

    /// Out of buffers: receives again at the end of a turn in which sends have given some back.
    void starve(connection& c) {
        c.receiving = true;  // keeps it alive
        c.next_starved = starved_;
        starved_ = &c;
    }

    void feed_starved() {
        for (unsigned room = buffers_.count - in_use_; room > 0 && starved_ != nullptr; --room) {
            connection& c = *starved_;
            starved_ = c.next_starved;
            receive(c);
        }
    }

    io_uring ring_{};
    bench::buffer_ring buffers_;
    int listener_;
    unsigned in_use_ = 0;
    piece pieces_[bench::buffer_ring::count];
    connection* starved_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
    static server s(bench::port_argument(argc, argv));
    s.run();
}
