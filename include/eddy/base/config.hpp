// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Marks the symbols that the library exports. All others have hidden visibility.
#if defined(EDDY_STATIC) && !defined(EDDY_BUILDING)
#define EDDY_API
#else
#define EDDY_API [[gnu::visibility("default")]]
#endif

/// Marks a rarely called function, which is kept out of its callers to keep them small.
#define EDDY_COLD [[gnu::cold, gnu::noinline]]
