// The twin of poll_wait.pml whose start() says that it has ended and then still looks after a stop:
// by then the operation may be gone.

#define BREAK_ORDER
#include "poll_wait.pml"
