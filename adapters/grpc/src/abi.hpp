// SPDX-License-Identifier: Apache-2.0

// Declares what libgrpc.so.29 (gRPC 1.51) exports for polling engines, and how it calls them. gRPC
// does not install its own declarations; these are ours, and contain only what the adapter needs.
#pragma once

#include <absl/status/status.h>
#include <grpc/support/sync.h>
#include <grpc/support/time.h>

#include <cstdint>

/// A callback of gRPC. It is opaque, and only handed back by ExecCtx::Run().
struct grpc_closure;

/// A node in gRPC's list of objects that must be gone before its shutdown is complete.
struct grpc_iomgr_object {
    char* name;
    grpc_iomgr_object* next;
    grpc_iomgr_object* prev;
};
void grpc_iomgr_register_object(grpc_iomgr_object* object, const char* name);
void grpc_iomgr_unregister_object(grpc_iomgr_object* object);

namespace grpc_core {

/// A place in the source, which only builds of gRPC with assertions read.
struct DebugLocation {
    const char* file;
    int line;
};

class Timestamp {
public:
    class Source {
    public:
        virtual Timestamp Now() = 0;
        virtual void InvalidateCache() = 0;

    protected:
        ~Source() = default;
    };

    gpr_timespec as_timespec(gpr_clock_type clock) const;

    /// Milliseconds since the process began; the type's limits are the infinite past and future.
    std::int64_t millis;

    /// The clock of this thread, which remembers the time until InvalidateCache() is called.
    static thread_local Source* thread_local_time_source_;
};

/// The closures that a thread must run before it leaves gRPC. Each caller of a polling engine has
/// one.
class ExecCtx {
public:
    /// Puts the closure into the list of this thread.
    static void Run(const DebugLocation& where, grpc_closure* closure, absl::Status status);
    /// Runs the closures in the list.
    bool Flush();

    static thread_local ExecCtx* exec_ctx_;
};

}  // namespace grpc_core

namespace eddy::grpc_adapter {

class watched_fd;
class bag;
class lent_pollset;
struct worker;

/// The functions of an engine, in gRPC's order. gRPC has only pointers to the engine's own types.
struct engine_table {
    std::size_t pollset_size;
    bool can_track_errors;
    bool runs_in_background;

    watched_fd* (*fd_create)(int number, const char* name, bool track_errors);
    int (*fd_number)(watched_fd*);
    void (*fd_orphan)(watched_fd*, grpc_closure* on_done, int* release_to, const char* reason);
    void (*fd_shutdown)(watched_fd*, absl::Status why);
    void (*fd_notify_on_read)(watched_fd*, grpc_closure*);
    void (*fd_notify_on_write)(watched_fd*, grpc_closure*);
    void (*fd_notify_on_error)(watched_fd*, grpc_closure*);
    void (*fd_set_readable)(watched_fd*);
    void (*fd_set_writable)(watched_fd*);
    void (*fd_set_error)(watched_fd*);
    bool (*fd_is_shut_down)(watched_fd*);

    /// Gets pollset_size bytes of zeroed memory, and sets `*lock` to the lock that gRPC is to use.
    void (*pollset_init)(lent_pollset*, gpr_mu** lock);
    void (*pollset_shutdown)(lent_pollset*, grpc_closure* done);
    void (*pollset_destroy)(lent_pollset*);
    absl::Status (*pollset_work)(lent_pollset*, worker** published, grpc_core::Timestamp deadline);
    absl::Status (*pollset_kick)(lent_pollset*, worker*);
    void (*pollset_add_fd)(lent_pollset*, watched_fd*);

    bag* (*bag_create)();
    void (*bag_destroy)(bag*);
    void (*bag_add_pollset)(bag*, lent_pollset*);
    void (*bag_remove_pollset)(bag*, lent_pollset*);
    void (*bag_add_bag)(bag*, bag* item);
    void (*bag_remove_bag)(bag*, bag* item);
    void (*bag_add_fd)(bag*, watched_fd*);
    void (*bag_remove_fd)(bag*, watched_fd*);

    bool (*is_background_thread)();
    const char* name;
    bool (*is_available)(bool asked_for_by_name);
    void (*start)();
    void (*stop_background)();
    void (*stop)();
    bool (*run_in_background)(grpc_closure*, absl::Status);
};

}  // namespace eddy::grpc_adapter

struct grpc_event_engine_vtable : eddy::grpc_adapter::engine_table {};
void grpc_register_event_engine_factory(const grpc_event_engine_vtable* engine, bool at_the_front);
