// The twin of pollset_handover.three.pml whose poller tells no other pollset of the first thing that it could
// run itself: it was kicked, or runs another one first.

#define RELIES_ON_THE_HARVESTER
#include "pollset_handover.three.pml"
