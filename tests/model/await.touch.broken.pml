// The twin of await.pml whose await_suspend() asks whether the operation was stopped before it asks
// whether the coroutine is suspended: then it may run on another thread, and the answer be gone.

#define STATE_IS_READ_AFTER_SUSPENDING
#include "await.pml"
