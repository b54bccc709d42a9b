// The twin of waiter.pml that posts the waiter after it has let go of the lock: an operation that is
// destroyed in between is found granted and not posted.

#define POST_AFTER_UNLOCK
#include "waiter.pml"
