// The twin of lease.pml whose pool does not wait for those who are about to wake the loop: they find
// its engine gone.

#define LEAVE_AT_ONCE
#include "lease.pml"
