#include "base/make_opened.hpp"
#include "pollset/poll_core.hpp"

namespace eddy::detail {

namespace {

/// One epoll set. A handle is registered there once, edge-triggered, from its first pollset to its
/// last one. Writing is added when someone first waits for it, and stays: with it from the start,
/// each connection would cost a wake-up that nobody wants.
class domain_strategy final : public strategy {
public:
    explicit domain_strategy(poll_core& core) noexcept : core_(core) {}

    std::error_code open() noexcept {
        std::unique_ptr<poller> made;
        if (auto error = make_epoll_poller(made)) {
            return error;
        }
        station_.reset(new (std::nothrow) station(std::move(made)));
        return station_ != nullptr ? std::error_code()
                                   : std::make_error_code(std::errc::not_enough_memory);
    }

    poll_strategy kind() const noexcept override { return poll_strategy::domain; }

    std::error_code join(membership& m) noexcept override {
        poll_handle& h = *m.handle;
        if (any(poll_core::registered(h))) {
            return wants_more(h);
        }
        return registered_as(h, interest::readable | interest::priority | interest::peer_closed |
                                    (poll_core::wanted(h) & interest::writable));
    }

    void leave(membership& m) noexcept override {
        poll_handle& h = *m.handle;
        if (m.next_of_handle == nullptr && poll_core::memberships_of(h) == &m) {
            station_->poller().remove(poll_core::fd(h));
            poll_core::registered(h) = interest::none;
            core_.count_registration();
        }
    }

    std::error_code wants_more(poll_handle& h) noexcept override {
        const interest now = poll_core::registered(h);
        const interest missing = poll_core::wanted(h) & interest::writable & ~now;
        return any(missing) ? registered_as(h, now | missing) : std::error_code();
    }

    std::error_code open(pollset&) noexcept override { return {}; }
    void close(pollset&) noexcept override {}
    station& station_of(pollset&) noexcept override { return *station_; }
    pollset_worker& successor(station& s) noexcept override { return *s.sleepers.front(); }

private:
    std::error_code registered_as(poll_handle& h, interest wanted) noexcept {
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

    poll_core& core_;
    std::unique_ptr<station> station_;
};

}  // namespace

std::error_code make_domain_strategy(poll_core& core, std::unique_ptr<strategy>& out) noexcept {
    return make_opened<domain_strategy>(
        out, [](auto& made) { return made.open(); }, core);
}

}  // namespace eddy::detail
