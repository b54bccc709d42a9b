// The twin of pollset_removal.pml that leaves only the queue of the first pollset: a worker of the other one
// finds what is gone.

#define LEFT_IN_A_QUEUE
#include "pollset_removal.pml"
