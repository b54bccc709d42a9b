// The twin of inbox.pml that looks whether the inbox is empty and then says that it sleeps, in two
// steps: what is pushed in between is lost, and nobody wakes the loop for it.

#define PARK_WITHOUT_COMPARE
#include "inbox.pml"
