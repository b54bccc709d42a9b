#include <eddy/async/detail/spare_room.hpp>

#include <new>

namespace eddy::detail {

constinit thread_local std::array<spare_rooms, 2> rooms_of_thread = {};

namespace {

struct at_thread_end {
    ~at_thread_end() {
        for (spare_rooms& spare : rooms_of_thread) {
            while (spare.first != nullptr) {
                void* const room = spare.first;
                spare.first = *static_cast<void**>(room);
                drop_room(room);
            }
            spare.count = spare_rooms::count_max;  // no more of them
        }
    }
};

}  // namespace

void* make_room(room size) {
    static const thread_local at_thread_end end;
    static_cast<void>(end);
    return ::operator new(room_sizes[static_cast<std::size_t>(size)]);
}

void drop_room(void* taken) noexcept { ::operator delete(taken); }

}  // namespace eddy::detail
