// The twin of pollset_kick.pml whose worker looks whether it was called, and then says that it sleeps, in two
// steps: who calls in between believes it awake, and rings nobody.

#define FALLS_ASLEEP_IN_TWO_STEPS
#include "pollset_kick.pml"
