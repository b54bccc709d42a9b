// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace eddy::detail {

template <class Pointer>
struct member_pointer;
template <class Object, class Member>
struct member_pointer<Member Object::*> {
    using object = Object;
    using member = Member;
};

/// The object whose member `Member` is `part`. After optimisation, the offset is a constant.
template <auto Member>
auto& owner_of(typename member_pointer<decltype(Member)>::member& part) noexcept {
    using object = typename member_pointer<decltype(Member)>::object;
    // Any well-aligned address serves: only the distance to the member is used.
    auto* const sample = reinterpret_cast<object*>(std::uintptr_t{alignof(object)} * 64);
    const auto offset = reinterpret_cast<std::uintptr_t>(std::addressof(sample->*Member)) -
                        reinterpret_cast<std::uintptr_t>(sample);
    return *reinterpret_cast<object*>(reinterpret_cast<std::uintptr_t>(std::addressof(part)) -
                                      offset);
}

}  // namespace eddy::detail
