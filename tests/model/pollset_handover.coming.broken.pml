// The twin of pollset_handover.pml in which a worker that was called counts as on its way until it has run
// something: what it leaves while that blocks has nobody called for it.

#define COMES_UNTIL_IT_HAS_RUN
#include "pollset_handover.pml"
