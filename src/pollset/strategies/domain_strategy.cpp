// SPDX-License-Identifier: Apache-2.0

// Registers each handle in one epoll set, and moves crowded pollsets out of the common one.
#include "pollset/strategies/domain_strategy.hpp"

#include "base/make_opened.hpp"
#include "pollset/core/poll_core.hpp"

namespace eddy::detail {

std::error_code domain_strategy::open() noexcept { return make(common_); }

std::error_code domain_strategy::make(station*& out) noexcept {
    std::unique_ptr<station> made;
    if (auto error = station::make(make_epoll_poller, made)) {
        return error;
    }
    out = &stations_.keep(std::move(made));
    return {};
}

std::error_code domain_strategy::open(pollset& set) noexcept {
    poll_core::place_of(set) = common_;
    return {};
}

void domain_strategy::close(pollset& set) noexcept {
    if (station& own = *poll_core::place_of(set); &own != common_) {
        --outside_;
        stations_.drop(own);  // nobody is inside
    }
}

std::error_code domain_strategy::join(membership& m) noexcept {
    poll_handle& h = *m.handle;
    if (any(poll_core::registered(h))) {
        // If further pollsets hold the handle, all of them have come back already.
        if (auto error = come_back(*m.next_of_handle->set, nullptr)) {
            return error;
        }
        if (auto error = come_back(*m.set, &m)) {
            return error;
        }
        return wants_more(h);
    }
    return registered_as(h, interest::readable | interest::priority | interest::peer_closed |
                                (poll_core::wanted(h) & interest::writable));
}

void domain_strategy::leave(membership& m) noexcept {
    poll_handle& h = *m.handle;
    if (m.next_of_handle == nullptr && poll_core::memberships_of(h) == &m) {
        poll_core::place_of(*m.set)->poller().remove(poll_core::fd(h));
        poll_core::registered(h) = interest::none;
        core_.count_registration();
    }
}

std::error_code domain_strategy::wants_more(poll_handle& h) noexcept {
    const interest now = poll_core::registered(h);
    const interest missing = poll_core::wanted(h) & interest::writable & ~now;
    return any(missing) ? registered_as(h, now | missing) : std::error_code();
}

std::error_code domain_strategy::registered_as(poll_handle& h, interest wanted) noexcept {
    interest& now = poll_core::registered(h);
    const int fd = poll_core::fd(h);
    const std::uint64_t token = poll_core::token_of(h);
    poller& where = poll_core::place_of(*poll_core::memberships_of(h)->set)->poller();
    const auto error = any(now) ? where.modify(fd, wanted, trigger::edge, token)
                                : where.add(fd, wanted, trigger::edge, token);
    core_.count_registration();
    if (!error) {
        now = wanted;
    }
    return error;
}

void domain_strategy::crowded(pollset& set) noexcept {
    if (poll_core::place_of(set) != common_ || poll_core::stays(set) || outside_ == outside_max) {
        return;
    }
    station* own = nullptr;
    if (make(own)) {
        poll_core::stays(set) = true;  // no second try
    } else if (move(set, *own)) {
        poll_core::stays(set) = true;
        stations_.drop(*own);
    } else {
        ++outside_;
    }
}

std::error_code domain_strategy::come_back(pollset& set, const membership* joining) noexcept {
    poll_core::stays(set) = true;
    station& own = *poll_core::place_of(set);
    if (&own == common_) {
        return {};
    }
    if (auto error = move(set, *common_, joining)) {
        return error;
    }
    --outside_;
    if (own.vacant()) {
        stations_.drop(own);
    } else {
        own.retired = true;
    }
    return {};
}

std::error_code domain_strategy::move(pollset& set, station& to,
                                      const membership* joining) noexcept {
    poller& from = poll_core::place_of(set)->poller();
    membership* const first = poll_core::memberships_of(set);
    const auto take_out = [&](poller& where, const membership* end) {
        for (const membership* m = first; m != end; m = m->next_of_set) {
            if (m != joining) {
                where.remove(poll_core::fd(*m->handle));
                core_.count_registration();
            }
        }
    };
    for (const membership* m = first; m != nullptr; m = m->next_of_set) {
        if (m == joining) {
            continue;
        }
        poll_handle& h = *m->handle;
        core_.count_registration();
        if (auto error = to.poller().add(poll_core::fd(h), poll_core::registered(h), trigger::edge,
                                         poll_core::token_of(h))) {
            take_out(to.poller(), m);
            return error;
        }
    }
    take_out(from, nullptr);
    poll_core::place_of(set) = &to;
    core_.moved(set);
    return {};
}

std::error_code make_domain_strategy(poll_core& core, std::unique_ptr<strategy>& out) noexcept {
    return make_opened<domain_strategy>(
        out, [](auto& made) { return made.open(); }, core,
        strategy_traits{.kind = poll_strategy::domain,
                        .events_max = 16,
                        .has_deputies = true,
                        .has_sentries = true,
                        .spreads = true});
}

}  // namespace eddy::detail
