// The twin of watch_command.pml that removes on the loop's thread without waiting for the entry: what
// the loop takes out of the inbox next is part of a watch that was freed.

#define REMOVE_AT_ONCE
#include "watch_command.pml"
