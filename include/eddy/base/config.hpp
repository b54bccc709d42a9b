// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the library exports. Everything else has hidden visibility.
#if defined(EDDY_STATIC) && !defined(EDDY_BUILDING)
#define EDDY_API
#else
#define EDDY_API [[gnu::visibility("default")]]
#endif

/// What is rarely called: kept out of its callers, so that these stay small.
#define EDDY_COLD [[gnu::cold, gnu::noinline]]
