// The twin of lease.pml that counts a buffer before it says that it wakes nobody any more: the last
// one may have destroyed the pool by then.

#define COUNT_BEFORE_LEAVING
#include "lease.pml"
