// The twin of timer_command.pml that stores what is wanted whatever stood there before: a thread that
// sets the timer overwrites a cancel that the loop has not seen yet, and on_cancel never comes.

#define OVERWRITE_CANCEL
#include "timer_command.pml"
