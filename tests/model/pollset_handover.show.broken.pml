// The twin of pollset_handover.pml whose poller tells nobody what it harvested: what is not for its own
// pollset stays there.

#define SHOWS_ONLY_TO_ITSELF
#include "pollset_handover.pml"
