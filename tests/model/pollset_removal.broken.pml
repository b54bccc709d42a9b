// The twin of pollset_removal.pml whose events carry no generation: what was harvested for the old handle
// comes to the new one.

#define NO_GENERATION
#include "pollset_removal.pml"
