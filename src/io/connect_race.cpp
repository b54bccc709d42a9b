// SPDX-License-Identifier: Apache-2.0

// Races TCP connections to several addresses, as RFC 8305 describes.
#include <eddy/io/detail/connect/connect_race.hpp>

#include <eddy/io/detail/connect/socket_calls.hpp>
#include <eddy/loop/requests.hpp>

#include <algorithm>
#include <utility>

namespace eddy::detail {

struct connect_race::attempt {
    connect_race* race = nullptr;
    io_operation operation{&connect_race::on_attempt};
    descriptor socket;
};

namespace {

/// True for errors that concern this machine, not the peer.
bool tells_little(std::error_code error) noexcept {
    return error == std::errc::network_unreachable ||
           error == std::errc::address_family_not_supported ||
           error == std::errc::address_not_available;
}

}  // namespace

std::vector<address> take_turns(std::span<const address> addresses) {
    std::vector<address> turns;
    turns.reserve(addresses.size());
    const auto first_of = [&](std::size_t from, bool same) {
        while (from != addresses.size() &&
               (addresses[from].family() == addresses[0].family()) != same) {
            ++from;
        }
        return from;
    };
    std::size_t next[2] = {first_of(0, false), first_of(0, true)};
    for (bool same = true; turns.size() != addresses.size(); same = !same) {
        std::size_t& at = next[same ? 1 : 0];
        if (at != addresses.size()) {
            turns.push_back(addresses[at]);
            at = first_of(at + 1, same);
        }
    }
    return turns;
}

connect_race::connect_race(loop& home, std::vector<address> to, duration delay, bool no_delay,
                           callback on_end)
    : home_(home),
      to_(std::move(to)),
      delay_(delay),
      no_delay_(no_delay),
      on_end_(on_end),
      timer_(home, &on_delay),
      attempts_(std::make_unique<attempt[]>(to_.size())) {}

connect_race::~connect_race() {
    if (pending_ != 0) {
        home_.disarm(timer_);
        for (std::size_t i = 0; i != begun_; ++i) {
            if (attempts_[i].operation.pending()) {
                home_.abandon(attempts_[i].operation);
            }
        }
    }
}

void connect_race::start() noexcept {
    if (to_.empty()) {
        error_ = std::make_error_code(std::errc::invalid_argument);
    }
    begin_next();
}

void connect_race::stop() noexcept {
    if (!ending()) {
        stopping_ = true;
        end_others();
    }
}

descriptor connect_race::take_winner() noexcept { return std::move(winner_->socket); }

void connect_race::begin_next() noexcept {
    while (begun_ != to_.size()) {
        attempt& a = attempts_[begun_];
        const address& to = to_[begun_];
        ++begun_;
        if (const auto error = open(a, to)) {
            note(error, to);
            continue;
        }
        ++pending_;
        if (begun_ != to_.size()) {
            home_.post_at(saturating_add(clock::now(), delay_), timer_);
        }
        home_.start(a.operation, connect(a.socket, to.native(), to.native_length()));
        return;
    }
    if (pending_ == 0) {
        on_end_(*this);
    }
}

std::error_code connect_race::open(attempt& a, const address& to) noexcept {
    if (to.family() != AF_INET && to.family() != AF_INET6) {
        return std::make_error_code(std::errc::address_family_not_supported);
    }
    unique_fd fd;
    if (auto error = open_socket(to.family(), SOCK_STREAM, fd)) {
        return error;
    }
    if (auto error = no_delay_ ? set_no_delay(fd.get()) : std::error_code()) {
        return error;
    }
    a.race = this;
    return descriptor::attach(home_, fd, a.socket, {.kind = descriptor_kind::tcp});
}

void connect_race::on_delay(timer& t) noexcept { owner_of<&connect_race::timer_>(t).begin_next(); }

void connect_race::on_attempt(io_operation& op) noexcept {
    attempt& a = owner_of<&attempt::operation>(op);
    a.race->ended(a);
}

void connect_race::ended(attempt& a) noexcept {
    --pending_;
    if (a.operation.result() && winner_ == nullptr) {
        winner_ = &a;
        end_others();
        return;
    }
    a.socket.close();
    if (!ending()) {
        failed(a);
    } else if (pending_ == 0 && !cancelling_) {
        on_end_(*this);
    }
}

void connect_race::failed(attempt& a) noexcept {
    if (a.operation.was_canceled()) {  // the loop ends
        stop();
        return;
    }
    note(a.operation.result().error(), to_[static_cast<std::size_t>(&a - attempts_.get())]);
    home_.disarm(timer_);
    begin_next();
}

void connect_race::end_others() noexcept {
    home_.disarm(timer_);
    // Some engines complete a cancellation immediately, others later: the race ends below.
    if (std::exchange(cancelling_, true)) {
        return;
    }
    for (std::size_t i = 0; i != begun_; ++i) {
        if (attempts_[i].operation.pending()) {
            home_.cancel(attempts_[i].operation);
        }
    }
    cancelling_ = false;
    if (pending_ == 0) {
        on_end_(*this);
    }
}

void connect_race::note(std::error_code error, const address& of) noexcept {
    if (!error_ || tells_little(error_) || !tells_little(error)) {
        error_ = error;
        failed_at_ = of;
    }
}

}  // namespace eddy::detail
