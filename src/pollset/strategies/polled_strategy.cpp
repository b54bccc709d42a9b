// SPDX-License-Identifier: Apache-2.0

// Waits by poll(2), with a station for each pollset.
#include "base/make_opened.hpp"
#include "pollset/core/poll_core.hpp"

#include <new>
#include <vector>

namespace eddy::detail {

namespace {

/// A station that waits by poll(). The array for that call belongs to the worker that waits in it,
/// so changes are remembered, and that worker is called out. The next wait brings the changes in.
class polled_station final : public station {
public:
    polled_station(std::unique_ptr<eddy::poller> p, poll_core& core, pollset& set) noexcept
        : station(std::move(p)), core_(core), set_(set) {}

    /// Notes that the members want something new. If `urgent`, calls out the worker that waits.
    void change(bool urgent) noexcept {
        changed = true;
        if (urgent) {
            core_.interrupt(*this);
        }
    }

    void gone(const membership& m) noexcept {
        if (any(m.told)) {
            gone_.push_back(poll_core::fd(*m.handle));  // there is room: see before_wait()
            change(true);
        }
    }

    std::error_code before_wait() noexcept override try {
        // Fds that have left come first: their numbers may be in use again.
        for (const int fd : gone_) {
            poller().remove(fd);
            core_.count_registration();
        }
        gone_.clear();
        std::size_t members = 0;
        for (membership* m = poll_core::memberships_of(set_); m != nullptr; m = m->next_of_set) {
            ++members;
        }
        gone_.reserve(members);
        for (membership* m = poll_core::memberships_of(set_); m != nullptr; m = m->next_of_set) {
            if (auto error = tell(*m)) {
                return error;
            }
        }
        changed = false;
        return {};
    } catch (const std::bad_alloc&) {
        return std::make_error_code(std::errc::not_enough_memory);
    }

private:
    std::error_code tell(membership& m) noexcept {
        const interest wanted = poll_core::wanted(*m.handle);
        if (wanted == m.told) {
            return {};
        }
        const auto error = poller().add(poll_core::fd(*m.handle), wanted, trigger::level,
                                        poll_core::token_of(*m.handle));
        core_.count_registration();
        if (!error) {
            m.told = wanted;
        }
        return error;
    }

    poll_core& core_;
    pollset& set_;
    std::vector<int> gone_;  ///< fds in the poller whose members have left
};

/// Gives each pollset a station that waits by poll(2). Being level-triggered, it watches only what
/// closures wait for. An fd that is in several pollsets wakes one worker of each.
class polled_strategy final : public strategy {
public:
    explicit polled_strategy(poll_core& core) noexcept
        : strategy({.kind = poll_strategy::poll, .level = true}), core_(core) {}

    std::error_code join(membership& m) noexcept override {
        if (auto error = poll_core::refuse_file(poll_core::fd(*m.handle))) {
            return error;
        }
        if (any(poll_core::wanted(*m.handle))) {
            at(*m.set).change(true);
        }
        return {};
    }

    void leave(membership& m) noexcept override { at(*m.set).gone(m); }

    std::error_code wants_more(poll_handle& h) noexcept override {
        tell_all(h, true);
        return {};
    }
    // Not urgent: at most, the worker that waits there gets an event that nobody wants.
    void wants_less(poll_handle& h) noexcept override { tell_all(h, false); }

    std::error_code open(pollset& set) noexcept override {
        std::unique_ptr<station> made;
        if (auto error = station::make<polled_station>(make_poll_poller, made, core_, set)) {
            return error;
        }
        poll_core::place_of(set) = &stations_.keep(std::move(made));
        return {};
    }
    void close(pollset& set) noexcept override { stations_.drop(*poll_core::place_of(set)); }

    pollset_worker& successor(station& s) noexcept override { return *s.sleepers.front(); }

private:
    static polled_station& at(pollset& set) noexcept {
        return static_cast<polled_station&>(*poll_core::place_of(set));
    }

    static void tell_all(poll_handle& h, bool urgent) noexcept {
        for (membership* m = poll_core::memberships_of(h); m != nullptr; m = m->next_of_handle) {
            at(*m->set).change(urgent);
        }
    }

    poll_core& core_;
    station_depot stations_;
};

}  // namespace

std::error_code make_poll_strategy(poll_core& core, std::unique_ptr<strategy>& out) noexcept {
    return make_opened<polled_strategy>(out, [](auto&) { return std::error_code(); }, core);
}

}  // namespace eddy::detail
