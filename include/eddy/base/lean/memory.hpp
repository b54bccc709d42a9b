#pragma once

// std::unique_ptr, std::allocator and its traits, std::addressof, std::construct_at and
// std::destroy_at, std::allocator_arg. <memory> has shared pointers and uninitialized ranges too.

#include <utility>

#if defined(__GLIBCXX__) && __has_include(<bits/unique_ptr.h>)
#include <bits/alloc_traits.h>
#include <bits/allocator.h>
#include <bits/stl_construct.h>
#include <bits/unique_ptr.h>
#include <bits/uses_allocator.h>
#else
#include <memory>
#endif
