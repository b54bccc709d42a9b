// The twin of pollset_handover.pml whose worker calls nobody when it leaves a pollset that is shut down:
// those of other pollsets sleep, and nobody polls.
// cc: -O2

#define SHUT_DOWN_CALLS_NOBODY
#include "pollset_handover.pml"
