// The twin of pollset_handover.pml whose worker finds the next poller after it has run something: while a
// handler blocks nobody polls.

#define ROLE_IS_PASSED_AFTER_RUNNING
#include "pollset_handover.pml"
