// The twin of child_table.pml in which who has read the signal does not tell the others.

#define TELLS_NOBODY
#include "child_table.pml"
