// The twin of waiter.pml whose completion does not take the lock: who was let go destroys the primitive
// while the one who granted still holds its lock.

#define LEAVE_AT_ONCE
#include "waiter.pml"
