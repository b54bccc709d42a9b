// The twin of pollset_handover.pml whose worker leaves without calling the next one: sleepers remain, and
// nobody polls.

#define LEAVER_CALLS_NOBODY
#include "pollset_handover.pml"
