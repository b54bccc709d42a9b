#include "pollset/domain_strategy.hpp"

#include "base/make_opened.hpp"
#include "pollset/poll_core.hpp"

namespace eddy::detail {

std::error_code domain_strategy::open() noexcept {
    return station::make(make_epoll_poller, station_);
}

std::error_code domain_strategy::open(pollset& set) noexcept {
    poll_core::place_of(set) = station_.get();
    return {};
}

std::error_code domain_strategy::join(membership& m) noexcept {
    poll_handle& h = *m.handle;
    if (any(poll_core::registered(h))) {
        return wants_more(h);
    }
    return registered_as(h, interest::readable | interest::priority | interest::peer_closed |
                                (poll_core::wanted(h) & interest::writable));
}

void domain_strategy::leave(membership& m) noexcept {
    poll_handle& h = *m.handle;
    if (m.next_of_handle == nullptr && poll_core::memberships_of(h) == &m) {
        station_->poller().remove(poll_core::fd(h));
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
    const auto error = any(now) ? station_->poller().modify(fd, wanted, trigger::edge, token)
                                : station_->poller().add(fd, wanted, trigger::edge, token);
    core_.count_registration();
    if (!error) {
        now = wanted;
    }
    return error;
}

std::error_code make_domain_strategy(poll_core& core, std::unique_ptr<strategy>& out) noexcept {
    return make_opened<domain_strategy>(
        out, [](auto& made) { return made.open(); }, core);
}

}  // namespace eddy::detail
