// A watch that threads command while its loop runs: watch::post(), command(), take_posted(),
// on_command(), begin_removal() and finish_removal() (src/watch/watch.cpp).
//
// Commands are merged in one word; whoever sets its posted bit posts the watch's one entry. What
// happens inside the inbox is the matter of inbox.pml; here it is a place for one entry, out of which
// the loop takes it some time after the push.
//
// Thread A arms and disarms the watch. Thread B removes it, whenever it likes, or the loop does when
// A's calls have returned, though it may not have seen them. on_removed frees the watch; where B
// removes it at any time, it is freed when A is done, too, because A may still be inside a call.
//
// Shown:
//   - the entry is never posted while it is posted already;
//   - what A wanted last holds when nothing else happens any more;
//   - a removal is never undone: on_removed comes, and comes once;
//   - nobody touches a watch that on_removed has freed, and it leaves nothing in the inbox.

#define NOTHING 0
#define ARM 1
#define DISARM 2

#define B_REMOVES 1
#define LOOP_REMOVES 2
#define NOBODY_REMOVES 3

bool posted = false;                   // watch::posted_bit
bool removal = false;                  // watch::removal_bit
byte power = NOTHING;                  // watch::arm_bit, disarm_bit
bool in_inbox = false;                 // watch::command_ is posted
bool armed = false;                    // watch::armed_
bool removing = false;                 // watch::removing_
bool taken = false;                    // watch::removal_taken_

// What only the properties need.
byte usage;
bool a_done = false;
bool b_done = false;
bool freed = false;
byte removals = 0;                     // calls of on_removed

#define TOUCH assert(!freed)

// watch::post(). The compare-and-exchange loop is one step.
inline post(what, removes) {
    atomic {
        TOUCH;
        if
#ifndef AFTER_REMOVAL
        ::  removal -> mine = false
#endif
        ::  else ->
            mine = !posted;
            posted = true;
            removal = removal || removes;
            if
            ::  what != NOTHING -> power = what
            ::  else
            fi
        fi
    };
    if
    ::  mine ->
        d_step {                       // loop::post()
            TOUCH;
            assert(!in_inbox);
            in_inbox = true;
            mine = false
        }
    ::  else
    fi
}

proctype thread_a() {
    bool mine = false;
    post(ARM, false);
    post(DISARM, false);
    post(ARM, false);
    a_done = true
}

proctype thread_b() {
    bool mine = false;
    if
    ::  usage == B_REMOVES -> post(NOTHING, true)
    ::  else
    fi;
    b_done = true
}

// watch::apply() and begin_removal(). `own`: the loop's thread asks for the removal.
inline apply(what, removes, own) {
    atomic {
        TOUCH;
        mine = false;
        if
        ::  removing
        ::  else ->
            if
            ::  removes ->
                removing = true;
                armed = false;
                mine = !posted;        // fetch_or
                posted = true;
                removal = true
            ::  else ->
                if
                ::  what == ARM -> armed = true
                ::  what == DISARM -> armed = false
                ::  else
                fi
            fi
        fi
    };
    if
    ::  mine -> d_step { TOUCH; assert(!in_inbox); in_inbox = true; mine = false }
    ::  else
    fi
}

// watch::on_command(), of the entry that is in the inbox.
inline on_command() {
    d_step {                           // the entry is its owner's again
        in_inbox = false;
        TOUCH
    };
    atomic {                           // compare_exchange
        TOUCH;
        what = power;
        power = NOTHING;
        removes = removal;
#ifdef FORGET_REMOVAL
        posted = false;
        removal = false
#else
        posted = removal
#endif
    };
    taken = removes;
    apply(what, removes, false);
    atomic {                           // finish_removal()
        if
        ::  taken && removals == 0 && (usage != B_REMOVES || a_done) ->
            removals++;
            assert(!in_inbox);
            freed = true
        ::  taken && removals == 0 && !(usage != B_REMOVES || a_done) -> removals++
        ::  else
        fi
    }
}

active proctype event_loop() {
    byte what;
    bool removes;
    bool mine = false;
    bool asked = false;
    select(usage : B_REMOVES .. NOBODY_REMOVES);
    run thread_a();
    run thread_b();
    do
    ::  in_inbox -> on_command()
    ::  !freed && !removing && power != NOTHING && usage == LOOP_REMOVES && a_done && !asked ->
        atomic { what = power; power = NOTHING };          // take_posted()
        apply(what, false, true)
#ifdef REMOVE_AT_ONCE
    ::  usage == LOOP_REMOVES && a_done && !asked ->
        asked = true;
        atomic { removing = true; removals++; freed = true }
#else
    ::  usage == LOOP_REMOVES && a_done && !asked -> asked = true; apply(NOTHING, true, true)
#endif
    ::  atomic {                       // nothing can happen any more
            a_done && b_done && (asked || usage != LOOP_REMOVES) && !in_inbox ->
            if
            ::  usage == NOBODY_REMOVES -> assert(armed && !posted && removals == 0)
            ::  else -> assert(removals == 1 && !armed)
            fi;
            break
        }
    od
}
