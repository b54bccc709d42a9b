// SPDX-License-Identifier: Apache-2.0

// Registers handles exclusively, in the epoll sets of all pollsets that hold them.
#include "base/make_opened.hpp"
#include "kernel/event.hpp"
#include "pollset/core/poll_core.hpp"

namespace eddy::detail {

namespace {

/// A station with a type, which says which pollsets use it:
///   empty  all pollsets that hold nothing
///   single all pollsets that hold just that one handle; there is at most one per handle
///   multi  one pollset, for as long as it holds more
/// A handle is watched in its single station and in any number of multis at the same time.
class pollable final : public station {
public:
    enum class type : std::uint8_t { empty, single, multi };

    pollable(std::unique_ptr<eddy::poller> p, poll_core& core, type t) noexcept
        : station(std::move(p)), what(t), core_(core) {}

    /// Registers `h` for all that is ever wanted: the kernel cannot change exclusive registrations.
    std::error_code watch(poll_handle& h) noexcept {
        EDDY_ASSERT(what != type::empty, "a pollable for nothing watches something");
        core_.count_registration();
        return poller().add(poll_core::fd(h), interest::readable | interest::writable,
                            trigger::exclusive, poll_core::token_of(h));
    }
    void forget(poll_handle& h) noexcept {
        poller().remove(poll_core::fd(h));
        core_.count_registration();
    }

    const type what;
    std::size_t users = 0;          ///< pollsets that use it
    poll_handle* handle = nullptr;  ///< of a single station

private:
    poll_core& core_;
};

/// Gives a pollset an epoll set only while it holds several handles, and a handle one only while it
/// is alone in some pollset. The kernel notifies one station in which a thread waits.
///
/// No event is stranded with a thread that leaves. The kernel passes by epoll sets in which no
/// thread waits, leaving the event with each, and a thread that it has chosen brings the event.
class epollex_strategy final : public strategy {
    using type = pollable::type;

public:
    explicit epollex_strategy(poll_core& core) noexcept
        : strategy({.kind = poll_strategy::epollex}), core_(core) {}

    std::error_code open() noexcept {
        if (auto error = make(type::empty, empty_)) {
            return error;
        }
        unique_fd probe;
        if (auto error = kernel::make_eventfd(probe)) {
            return error;
        }
        const auto error =
            empty_->poller().add(probe.get(), interest::readable, trigger::exclusive, 0);
        empty_->poller().remove(probe.get());
        return error;
    }

    std::error_code join(membership& m) noexcept override {
        pollable& now = at(*m.set);
        if (now.what == type::multi) {
            return now.watch(*m.handle);
        }
        pollable* next = nullptr;
        if (auto error = now.what == type::empty ? single(*m.handle, next)
                                                 : multi(*now.handle, *m.handle, next)) {
            return error;
        }
        move(*m.set, *next);
        return {};
    }

    void leave(membership& m) noexcept override {
        pollable& now = at(*m.set);
        if (now.what == type::multi) {
            now.forget(*m.handle);
        }
        membership& first = *poll_core::memberships_of(*m.set);
        membership* const other = &first != &m ? &first : m.next_of_set;
        if (other == nullptr) {
            move(*m.set, *empty_);
        } else if (first.next_of_set->next_of_set == nullptr) {
            // Without an epoll set for the handle, the pollset stays where it is.
            if (pollable* next = nullptr; !single(*other->handle, next)) {
                now.forget(*other->handle);
                move(*m.set, *next);
            }
        }
    }

    std::error_code wants_more(poll_handle&) noexcept override { return {}; }

    std::error_code open(pollset& set) noexcept override {
        poll_core::place_of(set) = empty_;
        ++empty_->users;
        return {};
    }
    void close(pollset& set) noexcept override {
        EDDY_ASSERT(&at(set) == empty_, "a pollset is closed that is not empty");
        --empty_->users;
    }

    pollset_worker& successor(station& s) noexcept override { return *s.sleepers.front(); }
    void vacated(station& s) noexcept override { stations_.drop(s); }

private:
    static pollable& at(pollset& set) noexcept {
        return static_cast<pollable&>(*poll_core::place_of(set));
    }

    std::error_code make(type t, pollable*& out) noexcept {
        std::unique_ptr<station> made;
        if (auto error = station::make<pollable>(make_epoll_poller, made, core_, t)) {
            return error;
        }
        out = static_cast<pollable*>(&stations_.keep(std::move(made)));
        return {};
    }

    /// Finds the station of `h` alone, or makes it.
    std::error_code single(poll_handle& h, pollable*& out) noexcept {
        station*& own = poll_core::own_station(h);
        if (own != nullptr) {
            out = static_cast<pollable*>(own);
            EDDY_ASSERT(out->what == type::single && out->handle == &h,
                        "a handle has another one's pollable");
            return {};
        }
        if (auto error = make(type::single, out)) {
            return error;
        }
        if (auto error = out->watch(h)) {
            stations_.drop(*out);
            return error;
        }
        out->handle = &h;
        own = out;
        return {};
    }

    std::error_code multi(poll_handle& first, poll_handle& second, pollable*& out) noexcept {
        if (auto error = make(type::multi, out)) {
            return error;
        }
        auto error = out->watch(first);
        if (!error) {
            error = out->watch(second);
        }
        if (error) {
            stations_.drop(*out);
        }
        return error;
    }

    void move(pollset& set, pollable& next) noexcept {
        pollable& old = at(set);
        ++next.users;
        EDDY_ASSERT(next.what != type::multi || next.users == 1,
                    "two pollsets share a pollable with several fds");
        poll_core::place_of(set) = &next;
        core_.moved(set);
        if (--old.users == 0 && &old != empty_) {
            retire(old);
        }
    }

    void retire(pollable& p) noexcept {
        if (p.what == type::single) {
            p.forget(*p.handle);
            poll_core::own_station(*p.handle) = nullptr;
        }
        if (p.vacant()) {
            stations_.drop(p);
        } else {
            p.retired = true;
        }
    }

    poll_core& core_;
    station_depot stations_;
    pollable* empty_ = nullptr;
};

}  // namespace

std::error_code make_epollex_strategy(poll_core& core, std::unique_ptr<strategy>& out) noexcept {
    return make_opened<epollex_strategy>(out, [](auto& made) { return made.open(); }, core);
}

}  // namespace eddy::detail
