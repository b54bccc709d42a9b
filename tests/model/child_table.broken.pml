// The twin of child_table.pml in which a loop looks at its children before it reads the signal: what
// happens to them in between is never seen.

#define LOOKS_FIRST
#include "child_table.pml"
