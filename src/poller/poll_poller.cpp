// SPDX-License-Identifier: Apache-2.0

// Implements the poller on poll().
#include "base/make_opened.hpp"
#include "kernel/event.hpp"
#include "poller/poller.hpp"

#include <eddy/base/unique_fd.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

#include <poll.h>

namespace eddy {

namespace {

/// A level-triggered poller. The array for poll() holds exactly the fds with an interest. An fd
/// without interest is taken out, because its error or hang-up would be reported for ever.
class poll_poller final : public poller {
public:
    call_failure open() noexcept try {
        if (auto error = kernel::make_eventfd(wake_)) {
            return {error, "eventfd"};
        }
        // Not by insert(), which would make a table up to the fd's number. That is a lot for a
        // poller without fds, and thousands of those may exist.
        fds_.push_back({wake_.get(), static_cast<short>(interest::readable), 0});
        tokens_.push_back(0);
        return {};
    } catch (const std::bad_alloc&) {
        return out_of_memory();
    }

    poller_traits traits() const noexcept override { return {}; }

    std::error_code add(int fd, interest wanted, trigger how,
                        std::uint64_t token) noexcept override {
        if (fd < 0) {
            return std::make_error_code(std::errc::bad_file_descriptor);
        }
        if (auto error = make_room(fd)) {
            return error;
        }
        remove(fd);  // left by an earlier fd of this number that was closed without remove()
        return modify(fd, wanted, how, token);
    }

    std::error_code modify(int fd, interest wanted, trigger how,
                           std::uint64_t token) noexcept override {
        if (how != trigger::level) {
            return std::make_error_code(std::errc::operation_not_supported);
        }
        const std::size_t place = place_[static_cast<std::size_t>(fd)];
        if (place == outside) {
            return any(wanted) ? insert(fd, wanted, token) : std::error_code();
        }
        if (!any(wanted)) {
            take_out(place);
        } else {
            fds_[place].events = static_cast<short>(wanted);
            tokens_[place] = token;
        }
        return {};
    }

    bool remove(int fd) noexcept override {
        const auto number = static_cast<std::size_t>(fd);
        const bool inside = number < place_.size() && place_[number] != outside;
        if (inside) {
            take_out(place_[number]);
        }
        return inside;
    }

    io_result wait(time_point until, std::span<poll_event> events, bool& woken) noexcept override {
        const io_result result = kernel::poll_wait(fds_, until);
        if (!result) {
            return result;
        }
        std::size_t reported = result.count();
        if (reported != 0 && fds_[0].revents != 0) {
            kernel::drain_eventfd(wake_.get());
            woken = true;
            --reported;
        }
        // Starts behind the fd reported last, so that the first fds cannot crowd out the rest if
        // `events` is small.
        const std::size_t watched = fds_.size() - 1;
        std::size_t count = 0;
        for (std::size_t step = 0; reported != 0 && step != watched; ++step) {
            const std::size_t place = 1 + (start_ + step) % watched;
            if (fds_[place].revents == 0) {
                continue;
            }
            if (count == events.size()) {
                start_ = place - 1;
                break;
            }
            const auto bits = static_cast<unsigned short>(fds_[place].revents);
            events[count++] = {tokens_[place], static_cast<interest>(bits)};
            --reported;
        }
        return io_result::value(static_cast<std::int64_t>(count));
    }

    void wake() noexcept override { kernel::signal_eventfd(wake_.get()); }
    int native_handle() const noexcept override { return -1; }

private:
    static constexpr std::size_t outside = SIZE_MAX;

    /// Does all that can fail when an fd is added, so that a change of interest never allocates.
    std::error_code make_room(int fd) noexcept try {
        const auto numbers = static_cast<std::size_t>(fd) + 1;
        if (place_.size() < numbers) {
            // A reservation adds a stand-in fd, and the fd that replaces it has a slightly higher
            // number: room for that one is made here, too.
            constexpr std::size_t more = 32;
            const std::size_t size = std::max(numbers + more, place_.size() * 2);
            fds_.reserve(size + 1);
            tokens_.reserve(size + 1);
            place_.resize(size, outside);  // last: its size stands for the room in all three
        }
        return {};
    } catch (const std::bad_alloc&) {
        return std::make_error_code(std::errc::not_enough_memory);
    }

    std::error_code insert(int fd, interest wanted, std::uint64_t token) noexcept {
        if (auto error = make_room(fd)) {
            return error;
        }
        place_[static_cast<std::size_t>(fd)] = fds_.size();
        fds_.push_back({fd, static_cast<short>(wanted), 0});
        tokens_.push_back(token);
        return {};
    }

    void take_out(std::size_t place) noexcept {
        place_[static_cast<std::size_t>(fds_[place].fd)] = outside;
        if (place + 1 != fds_.size()) {
            fds_[place] = fds_.back();
            tokens_[place] = tokens_.back();
            place_[static_cast<std::size_t>(fds_[place].fd)] = place;
        }
        fds_.pop_back();
        tokens_.pop_back();
    }

    unique_fd wake_;
    std::vector<pollfd> fds_;  ///< the first is `wake_`
    std::vector<std::uint64_t> tokens_;
    std::vector<std::size_t> place_;  ///< by fd number: the index in `fds_`
    std::size_t start_ = 0;
};

}  // namespace

std::error_code make_poll_poller(std::unique_ptr<poller>& out) noexcept {
    return open_poll_poller(out);
}

call_failure open_poll_poller(std::unique_ptr<poller>& out) noexcept {
    return make_opened<poll_poller>(out, [](auto& made) { return made.open(); });
}

}  // namespace eddy
