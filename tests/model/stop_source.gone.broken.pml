// The twin of stop_source.pml whose request_stop() does not ask whether a callback has destroyed the
// source.

#define GONE_IS_IGNORED
#include "stop_source.pml"
