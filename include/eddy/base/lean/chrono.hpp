#pragma once

// Durations, time points, clocks and their literals. <chrono> has calendars and streams too, which
// are slow to compile; libstdc++ has what we need in a header of its own.

#include <ratio>

#if defined(__GLIBCXX__) && __has_include(<bits/chrono.h>)
#include <bits/chrono.h>
#else
#include <chrono>
#endif
