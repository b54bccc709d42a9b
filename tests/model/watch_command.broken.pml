// The twin of watch_command.pml that clears the word when it takes a removal: another thread posts
// the entry again, and it is in the inbox when on_removed comes.

#define FORGET_REMOVAL
#include "watch_command.pml"
