// The twin of timer_command.pml that pushes the command node with every command: the node is linked
// into the inbox twice.

#define PUSH_ALWAYS
#include "timer_command.pml"
