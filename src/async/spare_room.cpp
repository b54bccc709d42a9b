#include <eddy/async/detail/spare_room.hpp>

#include <new>

namespace eddy::detail {

namespace {

constexpr spare_rooms none_are_kept = {.first = nullptr, .count = spare_rooms::count_max};

}  // namespace

/// A thread that makes none keeps none: it has nobody to drop them at its end.
constinit thread_local std::array<spare_rooms, 2> rooms_of_thread = {none_are_kept, none_are_kept};

namespace {

struct until_thread_end {
    until_thread_end() noexcept { rooms_of_thread = {}; }
    ~until_thread_end() {
        for (spare_rooms& spare : rooms_of_thread) {
            while (spare.first != nullptr) {
                void* const room = spare.first;
                spare.first = *static_cast<void**>(room);
                drop_room(room);
            }
            spare = none_are_kept;
        }
    }
};

}  // namespace

void* make_room(room size) {
    static const thread_local until_thread_end kept;
    static_cast<void>(kept);
    return ::operator new(room_sizes[static_cast<std::size_t>(size)]);
}

void drop_room(void* taken) noexcept { ::operator delete(taken); }

}  // namespace eddy::detail
