// SPDX-License-Identifier: Apache-2.0

// Finds the pollsets that handles in sets belong to. Handles flow from a bag to its items. After
// any change, the handles above it are checked: to which pollsets does some way lead now? Counting
// ways instead would be quicker, but goes wrong where there are many of them. Both ends of a tie
// know it, so a change costs only what hangs on it, however many other sets the domain has.
#include "pollset/core/poll_core.hpp"

#include <eddy/base/error.hpp>
#include <eddy/pollset/pollset_set.hpp>

#include <algorithm>
#include <new>

namespace eddy::detail {

namespace {

std::error_code no_memory() noexcept { return std::make_error_code(std::errc::not_enough_memory); }
std::error_code foreign() noexcept { return std::make_error_code(std::errc::invalid_argument); }
std::error_code ended() noexcept { return std::make_error_code(std::errc::operation_canceled); }
std::error_code exists() noexcept { return std::make_error_code(std::errc::file_exists); }
std::error_code absent() noexcept {
    return std::make_error_code(std::errc::no_such_file_or_directory);
}

template <class T>
bool contains(const std::vector<T*>& all, const T& one) noexcept {
    return std::find(all.begin(), all.end(), &one) != all.end();
}

template <class T>
bool put_in(std::vector<T*>& all, T& one) noexcept try {
    all.push_back(&one);
    return true;
} catch (const std::bad_alloc&) {
    return false;
}

/// Puts `one` into `bag`. Returns false, and changes nothing, if there is no memory.
template <class T>
bool tie(std::vector<T*>& held, T& one, std::vector<pollset_set*>& bags,
         pollset_set& bag) noexcept {
    if (!put_in(held, one)) {
        return false;
    }
    if (!put_in(bags, bag)) {
        held.pop_back();
        return false;
    }
    return true;
}

/// Takes `one` out of `bag`. Returns false if it was not in.
template <class T>
bool cut(std::vector<T*>& held, T& one, std::vector<pollset_set*>& bags,
         pollset_set& bag) noexcept {
    if (std::erase(held, &one) == 0) {
        return false;
    }
    std::erase(bags, &bag);
    return true;
}

}  // namespace

/// Calls `visit(pollset_set&)` once for `from` and for each set that the ties lead to.
template <class Visitor>
void poll_core::walk(pollset_set& from, std::vector<pollset_set*> pollset_set::* ties,
                     Visitor&& visit) noexcept {
    const std::uint64_t number = ++walk_;
    pollset_set* last = &from;
    from.walk_ = number;
    from.next_ = nullptr;
    for (pollset_set* at = &from; at != nullptr; at = at->next_) {
        for (pollset_set* const next : at->*ties) {
            if (std::exchange(next->walk_, number) != number) {
                next->next_ = nullptr;
                last = last->next_ = next;
            }
        }
        visit(*at);
    }
}

/// Joins the pollsets that some way through sets leads to, and leaves those that none leads to.
std::error_code poll_core::reconcile(poll_handle& h) noexcept {
    std::error_code error;
    const std::uint64_t mark = ++walk_;
    const auto serve = [&](pollset& set) {
        set.walk_ = mark;
        const membership* const m = find(h, set);
        if (!error && (m == nullptr || !m->by_sets)) {
            error = join(set, h, &membership::by_sets);
        }
    };
    for (pollset_set* const bag : h.bags_) {
        walk(*bag, &pollset_set::items_, [&](pollset_set& s) {
            for (pollset* const set : s.pollsets_) {
                serve(*set);
            }
        });
    }
    for (membership* m = h.memberships_; m != nullptr;) {
        membership& candidate = *std::exchange(m, m->next_of_handle);
        if (candidate.by_sets && candidate.set->walk_ != mark) {
            candidate.by_sets = false;
            if (!candidate.wanted()) {
                leave(candidate);
            }
        }
    }
    stranded_ = stranded_ || is_stranded(h);
    return error;
}

/// Reconciles the handles above a tie that was made or cut at `bag` or below it.
std::error_code poll_core::reconcile_above(pollset_set& bag) noexcept {
    poll_handle* stale = nullptr;
    walk(bag, &pollset_set::bags_, [&](pollset_set& s) {
        for (poll_handle* const h : s.handles_) {
            if (!std::exchange(h->stale_, true)) {
                h->next_stale_ = std::exchange(stale, h);
            }
        }
    });
    std::error_code error;
    while (stale != nullptr) {
        poll_handle& h = *std::exchange(stale, stale->next_stale_);
        h.stale_ = false;
        if (const auto failed = reconcile(h)) {
            error = failed;
        }
    }
    return error;
}

/// Runs what is due for handles that nobody serves any more. The lock is released for each call, so
/// the search begins again each time; as a rule there are none.
void poll_core::run_stranded(core_lock& lock) {
    if (!std::exchange(stranded_, false)) {
        return;
    }
    const auto stranded = [&]() -> poll_handle* {
        for (pollset_set* const s : all_sets_) {
            for (poll_handle* const h : s->handles_) {
                if (is_stranded(*h)) {
                    return h;
                }
            }
        }
        return nullptr;
    };
    while (poll_handle* const h = stranded()) {
        run_unowned(*h, lock);
    }
}

std::error_code poll_core::open(pollset_set& bag) noexcept {
    const core_lock lock(*this);
    return put_in(all_sets_, bag) ? std::error_code() : no_memory();
}

void poll_core::close(pollset_set& bag) {
    core_lock lock(*this);
    while (!bag.handles_.empty()) {
        poll_handle& h = *bag.handles_.back();
        cut(bag.handles_, h, h.bags_, bag);
        static_cast<void>(reconcile(h));
        run_unowned(h, lock);
    }
    for (pollset* const set : bag.pollsets_) {
        std::erase(set->bags_, &bag);
    }
    for (pollset_set* const item : bag.items_) {
        std::erase(item->bags_, &bag);
    }
    for (pollset_set* const above : bag.bags_) {
        std::erase(above->items_, &bag);
        static_cast<void>(reconcile_above(*above));
    }
    std::erase(all_sets_, &bag);
    run_stranded(lock);
}

std::error_code poll_core::add(pollset_set& bag, poll_handle& h) {
    core_lock lock(*this);
    if (h.core_ != this) {
        return foreign();
    }
    if (h.orphaned_) {
        return ended();
    }
    if (contains(bag.handles_, h)) {
        return exists();
    }
    if (!h.in_slot_) {  // refused now, not when a pollset comes
        auto error = refuse_signalfd(h.fd_.get());
        if (!error) {
            error = refuse_file(h.fd_.get());
        }
        if (error) {
            return error;
        }
    }
    if (!tie(bag.handles_, h, h.bags_, bag)) {
        return no_memory();
    }
    const auto error = reconcile(h);
    if (error) {
        cut(bag.handles_, h, h.bags_, bag);
        static_cast<void>(reconcile(h));
    }
    return error;
}

std::error_code poll_core::add(pollset_set& bag, pollset& set) {
    core_lock lock(*this);
    if (set.core_ != this) {
        return foreign();
    }
    if (set.shut_down_) {
        return ended();
    }
    if (contains(bag.pollsets_, set)) {
        return exists();
    }
    if (!tie(bag.pollsets_, set, set.bags_, bag)) {
        return no_memory();
    }
    const auto error = reconcile_above(bag);
    if (error) {
        cut(bag.pollsets_, set, set.bags_, bag);
        static_cast<void>(reconcile_above(bag));
    }
    return error;
}

std::error_code poll_core::add(pollset_set& bag, pollset_set& item) {
    core_lock lock(*this);
    if (item.core_ != this) {
        return foreign();
    }
    if (contains(bag.items_, item)) {
        return exists();
    }
    bool circle = false;
    walk(item, &pollset_set::items_, [&](pollset_set& s) { circle = circle || &s == &bag; });
    if (circle) {
        return std::make_error_code(std::errc::too_many_symbolic_link_levels);
    }
    if (!tie(bag.items_, item, item.bags_, bag)) {
        return no_memory();
    }
    const auto error = reconcile_above(bag);
    if (error) {
        cut(bag.items_, item, item.bags_, bag);
        static_cast<void>(reconcile_above(bag));
    }
    return error;
}

std::error_code poll_core::remove(pollset_set& bag, poll_handle& h) {
    core_lock lock(*this);
    if (!cut(bag.handles_, h, h.bags_, bag)) {
        return absent();
    }
    static_cast<void>(reconcile(h));  // nothing is joined, so nothing fails
    run_unowned(h, lock);
    return {};
}

std::error_code poll_core::remove(pollset_set& bag, pollset& set) {
    core_lock lock(*this);
    if (!cut(bag.pollsets_, set, set.bags_, bag)) {
        return absent();
    }
    static_cast<void>(reconcile_above(bag));
    run_stranded(lock);
    return {};
}

std::error_code poll_core::remove(pollset_set& bag, pollset_set& item) {
    core_lock lock(*this);
    if (!cut(bag.items_, item, item.bags_, bag)) {
        return absent();
    }
    static_cast<void>(reconcile_above(bag));
    run_stranded(lock);
    return {};
}

void poll_core::leave_sets(poll_handle& h) noexcept {
    for (pollset_set* const bag : std::exchange(h.bags_, {})) {
        std::erase(bag->handles_, &h);
    }
}

void poll_core::leave_sets(pollset& set) noexcept {
    for (pollset_set* const bag : std::exchange(set.bags_, {})) {
        std::erase(bag->pollsets_, &set);
    }
}

}  // namespace eddy::detail
