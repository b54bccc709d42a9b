// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/interest.hpp>
#include <eddy/engine/descriptor_kind.hpp>

#include <bit>
#include <cstdint>

namespace eddy {

class io_operation;

/// The operations of one direction of a descriptor, in the order in which they were started. An
/// operation stays in its list from start() until its result is there.
class io_list {
public:
    bool empty() const noexcept { return head_ == nullptr; }
    io_operation* front() const noexcept { return head_; }
    static io_operation* next(const io_operation& op, const io_list& list) noexcept;
    /// Calls `visit(io_operation&)` for each operation, which `visit` may take out of the list.
    template <class Visitor>
    void for_each(Visitor&& visit) const;
    void push_back(io_operation& op) noexcept;
    void erase(io_operation& op) noexcept;
    /// True if `op` is the only one. Precondition: `op` is in this list.
    bool has_only(const io_operation& op) const noexcept;

private:
    io_operation* head_ = nullptr;  ///< circular: the tail is the head's predecessor
};

/// Facts about an fd, as bits. Several of them can be compared at once.
struct slot_state {
    bool may_read : 1 = false;   ///< trying to read makes sense
    bool may_write : 1 = false;  ///< trying to write makes sense
    bool hangup_seen : 1 = false;
    bool urgent_seen : 1 = false;
    bool error_told : 1 = false;  ///< the last event reported an error
    /// The file description is likely to be shared (a terminal, standard input or output):
    /// O_NONBLOCK is never set on it, and each call asks poll() first.
    bool shared : 1 = false;
    bool restore_blocking : 1 = false;  ///< attaching set O_NONBLOCK; detaching clears it
    bool detaching : 1 = false;
    bool close_when_quiet : 1 = false;
    bool lost : 1 = false;         ///< others closed the fd: its number must not be touched
    bool backing_off : 1 = false;  ///< no event says when to try again: wait a little
    /// The poller reports new data without being asked again. False for files, and on a
    /// level-triggered poller.
    bool tells_of_data : 1 = false;
    bool accept_fails : 1 = false;  ///< accepts fail for now, and that was reported
    // No bit is padding, so that has_any() and is() can compare several at once.
    descriptor_kind kind : 3 = descriptor_kind::unknown;
    /// An errno that followed bytes of the same operation. The next transfer that way reports it.
    std::uint8_t saved_read_error = 0;
    std::uint8_t saved_write_error = 0;

    /// True if a bit is set here that is set in `these`.
    bool has_any(const slot_state& these) const noexcept {
        return (std::bit_cast<std::uint32_t>(*this) & std::bit_cast<std::uint32_t>(these)) != 0;
    }
    /// True if all bits that are set in `asked` are here as in `these`.
    bool is(const slot_state& asked, const slot_state& these) const noexcept {
        return (std::bit_cast<std::uint32_t>(*this) & std::bit_cast<std::uint32_t>(asked)) ==
               std::bit_cast<std::uint32_t>(these);
    }
};

/// The record that an engine keeps of one fd number on one loop. Slots live in the engine's
/// fd_table at a fixed address, and are used again for the next fd of that number.
struct fd_slot : slot_state {
    int fd = -1;  ///< -1: nothing is attached
    /// Grows with each attach and each detach, and wraps. The generation is part of the poller's
    /// token and of every operation, so that nothing of an earlier fd of this number touches a
    /// later one, unless it is older by a multiple of 2^32 steps.
    std::uint32_t generation = 0;
    interest registered = interest::none;  ///< the interest that the poller knows
    std::uint32_t holds : 28 = 0;          ///< operations that the kernel or another thread has
    bool mode_unsure : 1 = false;          ///< the blocking mode must be checked when a wait ends
    bool watched_read : 1 = false;         ///< a watch has claimed reading: no other may
    bool watched_write : 1 = false;        ///< a watch has claimed writing: no other may
    /// A watch has given the fd back, and nothing is attached. All else is unchanged, and the
    /// registration has this generation.
    bool parted : 1 = false;
    std::uint32_t identity = 0;  ///< of the file behind the fd; 0: unknown
    io_list readers;
    io_list writers;
    io_list waiters;                   ///< for readiness, in either direction
    io_operation* detached = nullptr;  ///< completes when the kernel has let go of the slot
    const char* name = nullptr;

    /// True for a calm socket: one without a known condition that a transfer must heed first.
    bool is_calm() const noexcept {
        slot_state odd;
        mark_odd(odd);
        return !has_any(odd);
    }
    /// True for a calm socket without known data whose poller will report data.
    bool waits_for_data() const noexcept {
        slot_state asked;
        mark_odd(asked);
        asked.may_read = asked.tells_of_data = true;
        slot_state waiting;
        waiting.tells_of_data = true;
        return is(asked, waiting) && readers.empty();
    }
    /// True if the poller reports news without being asked. No edge follows a hang-up.
    bool tells_of_news() const noexcept {
        slot_state asked;
        asked.tells_of_data = asked.detaching = asked.hangup_seen = true;
        slot_state telling;
        telling.tells_of_data = true;
        return is(asked, telling);
    }
    /// True for a calm socket from which data may be read at once.
    bool has_data() const noexcept {
        slot_state asked;
        mark_odd(asked);
        asked.may_read = true;
        slot_state having;
        having.may_read = true;
        return is(asked, having) && readers.empty();
    }
    /// True for a calm socket to which data may be sent at once.
    bool takes_data() const noexcept {
        slot_state asked;
        mark_odd(asked);
        asked.may_write = true;
        slot_state taking;
        taking.may_write = true;
        return is(asked, taking) && writers.empty();
    }

private:
    static void mark_odd(slot_state& state) noexcept {
        state.detaching = state.shared = state.backing_off = true;
        state.kind = descriptor_kind::pipe;  // a bit that every known kind except sockets has
        state.saved_read_error = state.saved_write_error = UINT8_MAX;
    }
};

static_assert(sizeof(fd_slot) <= 64);
static_assert(static_cast<unsigned>(descriptor_kind::other) < 8, "kind has three bits");
static_assert(static_cast<unsigned>(descriptor_kind::pipe) == 4 &&
              static_cast<unsigned>(descriptor_kind::datagram) == 3);

}  // namespace eddy
