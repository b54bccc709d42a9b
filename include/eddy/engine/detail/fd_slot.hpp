// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <eddy/base/interest.hpp>
#include <eddy/engine/descriptor_kind.hpp>

#include <bit>
#include <cstdint>

namespace eddy {

class io_operation;

/// The operations of one direction of a descriptor, in the order in which they were started.
/// An operation stays in its list from start() until its result is there.
class io_list {
public:
    bool empty() const noexcept { return head_ == nullptr; }
    io_operation* front() const noexcept { return head_; }
    static io_operation* next(const io_operation& op, const io_list& list) noexcept;
    /// Calls `visit(io_operation&)` for each; it may take that operation out of the list.
    template <class Visitor>
    void for_each(Visitor&& visit) const;
    void push_back(io_operation& op) noexcept;
    void erase(io_operation& op) noexcept;
    /// Precondition: `op` is in it.
    bool has_only(const io_operation& op) const noexcept;

private:
    io_operation* head_ = nullptr;  ///< circular: the tail is the head's predecessor
};

/// What is known of an fd, in bits that can be asked for several at a time.
struct slot_state {
    bool may_read : 1 = false;   ///< trying to read makes sense
    bool may_write : 1 = false;  ///< trying to write makes sense
    bool hangup_seen : 1 = false;
    bool urgent_seen : 1 = false;
    bool error_told : 1 = false;  ///< the last event had an error in it
    /// The file description is not ours alone (a terminal, standard input or output): O_NONBLOCK is
    /// never set on it; each call asks poll() first.
    bool shared : 1 = false;
    bool restore_blocking : 1 = false;  ///< attach set O_NONBLOCK; detach takes it away again
    bool detaching : 1 = false;
    bool close_when_quiet : 1 = false;
    bool lost : 1 = false;         ///< the fd was closed by others: its number is not ours to touch
    bool backing_off : 1 = false;  ///< no event tells when the next try makes sense: wait a little
    /// The poller was told, once and for good, to tell when there is something to read again. Not
    /// of a file, nor where it does not tell of edges.
    bool tells_of_data : 1 = false;
    bool accept_fails : 1 = false;  ///< accepts fail for now, which was reported
    // All bits have names, so that several can be asked for at once.
    descriptor_kind kind : 3 = descriptor_kind::unknown;
    /// An errno that came behind bytes of the same operation: the next transfer in that direction
    /// reports it.
    std::uint8_t saved_read_error = 0;
    std::uint8_t saved_write_error = 0;

    /// Whether one of the bits is set that `these` has.
    bool has_any(const slot_state& these) const noexcept {
        return (std::bit_cast<std::uint32_t>(*this) & std::bit_cast<std::uint32_t>(these)) != 0;
    }
    /// Whether what `asked` has bits for is as in `these`.
    bool is(const slot_state& asked, const slot_state& these) const noexcept {
        return (std::bit_cast<std::uint32_t>(*this) & std::bit_cast<std::uint32_t>(asked)) ==
               std::bit_cast<std::uint32_t>(these);
    }
};

/// What an engine knows of one fd number on one loop. Slots live in the engine's fd_table, at an
/// address that does not change, and are used again for the next fd of that number.
struct fd_slot : slot_state {
    int fd = -1;  ///< -1: nothing is attached
    /// Grows with each attach and each detach, and wraps. Part of the poller's token and of every
    /// operation, so that nothing of an earlier fd of this number touches a later one, unless it
    /// is older by a multiple of 2^32 steps.
    std::uint32_t generation = 0;
    interest registered = interest::none;  ///< what the poller was told
    std::uint32_t holds : 28 = 0;          ///< operations with the kernel or another thread
    bool mode_unsure : 1 = false;          ///< to be seen to when a first wait ends
    bool watched_read : 1 = false;         ///< a watch has claimed this direction: no other may
    bool watched_write : 1 = false;        ///< the same
    /// A watch has given it back, and nothing is attached; but all else is as it was, and what is
    /// registered has this generation.
    bool parted : 1 = false;
    std::uint32_t identity = 0;  ///< of the file behind the fd; 0: not known
    io_list readers;
    io_list writers;
    io_list waiters;                   ///< for readiness, of either direction
    io_operation* detached = nullptr;  ///< told when the kernel holds nothing of it any more
    const char* name = nullptr;

    /// A socket of which nothing is known that a transfer would have to heed first.
    bool is_calm() const noexcept {
        slot_state odd;
        mark_odd(odd);
        return !has_any(odd);
    }
    /// Such a one with nothing to read, as far as is known, and more will be told.
    bool waits_for_data() const noexcept {
        slot_state asked;
        mark_odd(asked);
        asked.may_read = asked.tells_of_data = true;
        slot_state waiting;
        waiting.tells_of_data = true;
        return is(asked, waiting) && readers.empty();
    }
    /// The poller tells of what is new without being asked, and will go on to: behind a hang-up no
    /// edge follows.
    bool tells_of_news() const noexcept {
        slot_state asked;
        asked.tells_of_data = asked.detaching = asked.hangup_seen = true;
        slot_state telling;
        telling.tells_of_data = true;
        return is(asked, telling);
    }
    /// Such a one of which something may be read at once.
    bool has_data() const noexcept {
        slot_state asked;
        mark_odd(asked);
        asked.may_read = true;
        slot_state having;
        having.may_read = true;
        return is(asked, having) && readers.empty();
    }
    /// Such a one to which something may be sent at once.
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
        state.kind = descriptor_kind::pipe;  // a bit that all have but sockets
        state.saved_read_error = state.saved_write_error = UINT8_MAX;
    }
};

static_assert(sizeof(fd_slot) <= 64);
static_assert(static_cast<unsigned>(descriptor_kind::other) < 8, "kind has three bits");
static_assert(static_cast<unsigned>(descriptor_kind::pipe) == 4 &&
              static_cast<unsigned>(descriptor_kind::datagram) == 3);

}  // namespace eddy
