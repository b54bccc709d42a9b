// The twin of pollset_removal.pml that does not count calls: the handle goes while one of its closures runs.

#define DONE_WHILE_A_CALL_RUNS
#include "pollset_removal.pml"
