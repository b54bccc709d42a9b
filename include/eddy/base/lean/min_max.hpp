#pragma once

// std::min and std::max of two, std::copy. <algorithm> has everything else too, with the ranges.

#include <utility>

#if defined(__GLIBCXX__) && __has_include(<bits/stl_algobase.h>)
#include <bits/stl_algobase.h>
#else
#include <algorithm>
#endif
