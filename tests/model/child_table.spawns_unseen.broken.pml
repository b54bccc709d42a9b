// The twin of child_table.pml in which a spawn does not say that it has begun: its child ends before
// anybody knows whose it is, and another loop takes it.

#define SPAWNS_UNSEEN
#include "child_table.pml"
