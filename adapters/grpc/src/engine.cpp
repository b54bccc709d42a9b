// SPDX-License-Identifier: Apache-2.0

// The function table of the engine `eddy`, and its registration with gRPC.
#include "abi.hpp"
#include "bag.hpp"
#include "domain.hpp"
#include "lent_pollset.hpp"
#include "watched_fd.hpp"

#include <eddy/adapters/grpc.hpp>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

namespace eddy {

namespace grpc_adapter {

namespace {

// gRPC puts a pollset behind other objects, in memory that is aligned for pointers.
static_assert(alignof(lent_pollset) <= alignof(void*));

/// Makes a handle and preserves errno: gRPC calls connect(), then this, and only then reads errno.
/// On the way, a lock of gRPC sets errno to ENOENT when two threads first contend for one.
watched_fd* create_fd(int number, const char* name, bool) {
    const int of_connect = errno;
    auto* const made = new watched_fd(number, name);
    errno = of_connect;
    return made;
}

template <poll_event_kind Kind>
void notify_on(watched_fd* fd, grpc_closure* call) {
    fd->notify_on(Kind, call);
}

template <poll_event_kind Kind>
void make_ready(watched_fd* fd) {
    fd->make_ready(Kind);
}

template <class Thing>
void add(bag* b, Thing* thing) {
    b->add(*thing);
}

/// Appends a built-in poller to GRPC_POLL_STRATEGY. A second set of threads in gRPC 1.51, for
/// timers and the like, reads the variable later and takes the first name that it knows. It knows
/// only built-in pollers, and crashes at its end if it has found none.
void name_a_poller_for_the_rest() {
    constexpr const char* variable = "GRPC_POLL_STRATEGY";
    const char* const named = std::getenv(variable);
    const std::string both = std::string(named != nullptr ? named : "eddy") + ",epoll1";
    ::setenv(variable, both.c_str(), 1);
}

/// Called by gRPC once. The engine is never a default.
bool is_available(bool asked_for_by_name) {
    if (!asked_for_by_name || !make_domain()) {
        return false;
    }
    name_a_poller_for_the_rest();
    return true;
}

const grpc_event_engine_vtable engine = {{
    .pollset_size = sizeof(lent_pollset),
    .can_track_errors = true,
    .runs_in_background = false,

    .fd_create = create_fd,
    .fd_number = [](watched_fd* fd) { return fd->number(); },
    .fd_orphan = [](watched_fd* fd, grpc_closure* on_done, int* release_to,
                    const char* reason) { fd->orphan(on_done, release_to, reason); },
    .fd_shutdown = [](watched_fd* fd, absl::Status why) { fd->shutdown(std::move(why)); },
    .fd_notify_on_read = notify_on<poll_event_kind::read>,
    .fd_notify_on_write = notify_on<poll_event_kind::write>,
    .fd_notify_on_error = notify_on<poll_event_kind::error>,
    .fd_set_readable = make_ready<poll_event_kind::read>,
    .fd_set_writable = make_ready<poll_event_kind::write>,
    .fd_set_error = make_ready<poll_event_kind::error>,
    .fd_is_shut_down = [](watched_fd* fd) { return fd->is_shut_down(); },

    .pollset_init = [](lent_pollset* at, gpr_mu** lock) { std::construct_at(at, lock); },
    .pollset_shutdown = [](lent_pollset* p, grpc_closure* done) { p->shutdown(done); },
    .pollset_destroy = [](lent_pollset* p) { std::destroy_at(p); },
    .pollset_work = [](lent_pollset* p, worker** published,
                       grpc_core::Timestamp deadline) { return p->work(published, deadline); },
    .pollset_kick = [](lent_pollset* p, worker* one) { return p->kick(one); },
    .pollset_add_fd =
        [](lent_pollset* p, watched_fd* fd) {
            log_unless_there(p->set().add(fd->handle()), "pollset_add_fd");
        },

    .bag_create = [] { return new bag; },
    .bag_destroy = [](bag* b) { b->end(); },
    .bag_add_pollset = add<lent_pollset>,
    .bag_remove_pollset = [](bag* b, lent_pollset* p) { b->remove(*p); },
    .bag_add_bag = add<bag>,
    .bag_remove_bag = [](bag*, bag*) {},  // ties stay: see bag
    .bag_add_fd = add<watched_fd>,
    .bag_remove_fd = [](bag*, watched_fd*) {},

    .is_background_thread = [] { return false; },
    .name = "eddy",
    .is_available = is_available,
    .start = [] {},
    .stop_background = [] {},
    .stop = [] {},
    .run_in_background = [](grpc_closure*, absl::Status) { return false; },
}};

/// Registers the engine in programs that load the library and never call it.
[[gnu::constructor]] void on_load() { register_grpc_engine(); }

}  // namespace

}  // namespace grpc_adapter

void register_grpc_engine() noexcept {
    grpc_register_event_engine_factory(&grpc_adapter::engine, false);
}

}  // namespace eddy
