// The twin of timer_command.pml that calls on_cancel although the timer's node may be in the inbox:
// what the loop takes out of it next is part of a timer that was freed.

#define CANCEL_AT_ONCE
#include "timer_command.pml"
