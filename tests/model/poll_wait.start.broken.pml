// The twin of poll_wait.pml whose closure completes the operation while start() is still inside.

#define BREAK_START
#include "poll_wait.pml"
