// The twin of await.pml that looks at the progress of the coroutine and then says that the operation
// is complete, in two steps: a coroutine that suspends in between is forgotten.

#define COMPLETE_WITHOUT_EXCHANGE
#include "await.pml"
