"""Workers: threads that take pieces of one loop; they wait, and run, without Python.

A loop that is worth it calls `share(function, context, count)`, which returns when
`function(context, i)` has run for every i below count. The pieces are the same however many
threads there are: ARRAYPORT_NUM_THREADS, or as many as there are cores for this process.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from functools import cache

from arrayport_backends.numpy import llvm, objects

SHARE = "arrayport_share"
LINE = 8  # words of a line of the cache
HEAD = 4 * LINE  # words of the state before what is each worker's own

# A ticket is the number of the job in its upper half and of the pieces left in its lower one, so
# a worker that was late cannot take a piece of a job by what it read of the one before. One that
# sleeps says so first and then looks once more; who wakes it takes that word back, so each release
# of a lock meets one acquisition. Of the pieces that run, the last to end, if a worker ran it,
# wakes the thread that shares. While one does, others run all of their pieces themselves.
# No passes run: they would take twice as long as all the rest, and gain nothing.
#
# The state's words: 0 ticket; 8 pieces that have not ended; 16 whether it is in use; 24 workers
# that run, 25 workers wanted, 26 the lock of the thread that shares, 27 function, 28 context; then
# a line for each worker: whether it sleeps, its lock, and the state.
TEXT = """
@state = global ptr null

declare i64 @PyThread_start_new_thread(ptr, ptr)
declare i32 @PyThread_acquire_lock(ptr, i32)
declare void @PyThread_release_lock(ptr)

define internal ptr @word(ptr %state, i64 %number) {
  %place = getelementptr i64, ptr %state, i64 %number
  ret ptr %place
}

define internal i1 @work(ptr %state) {
  %left = call ptr @word(ptr %state, i64 8)
  %at_function = call ptr @word(ptr %state, i64 27)
  %at_context = call ptr @word(ptr %state, i64 28)
  br label %look
look:
  %ended = phi i1 [ false, %0 ], [ %ended, %take ], [ %last, %run ]
  %ticket = load atomic i64, ptr %state acquire, align 8
  %function = load atomic ptr, ptr %at_function monotonic, align 8
  %context = load atomic ptr, ptr %at_context monotonic, align 8
  %pieces = and i64 %ticket, 4294967295
  %none = icmp eq i64 %pieces, 0
  br i1 %none, label %done, label %take
take:
  %less = sub i64 %ticket, 1
  %swap = cmpxchg ptr %state, i64 %ticket, i64 %less acq_rel acquire
  %mine = extractvalue { i64, i1 } %swap, 1
  br i1 %mine, label %run, label %look
run:
  %piece = sub i64 %pieces, 1
  call void %function(ptr %context, i64 %piece)
  %before = atomicrmw sub ptr %left, i64 1 acq_rel
  %last = icmp eq i64 %before, 1
  br label %look
done:
  ret i1 %ended
}

define internal void @worker(ptr %own) {
  %at_state = call ptr @word(ptr %own, i64 2)
  %state = load ptr, ptr %at_state
  %at_lock = call ptr @word(ptr %own, i64 1)
  %lock = load ptr, ptr %at_lock
  %at_caller = call ptr @word(ptr %state, i64 26)
  %caller = load ptr, ptr %at_caller
  br label %job
job:
  %last = call i1 @work(ptr %state)
  br i1 %last, label %tell, label %rest
tell:
  call void @PyThread_release_lock(ptr %caller)
  br label %rest
rest:
  %awake = atomicrmw xchg ptr %own, i64 1 seq_cst
  %ticket = load atomic i64, ptr %state seq_cst, align 8
  %pieces = and i64 %ticket, 4294967295
  %none = icmp eq i64 %pieces, 0
  br i1 %none, label %sleep, label %rise
rise:
  %slept = atomicrmw xchg ptr %own, i64 0 seq_cst
  %self = icmp eq i64 %slept, 1
  br i1 %self, label %job, label %sleep
sleep:
  %got = call i32 @PyThread_acquire_lock(ptr %lock, i32 1)
  br label %job
}

define void @arrayport_share(ptr %function, ptr %context, i64 %count) {
  %state = load ptr, ptr @state
  %in_use = call ptr @word(ptr %state, i64 16)
  %at_running = call ptr @word(ptr %state, i64 24)
  %at_wanted = call ptr @word(ptr %state, i64 25)
  %wanted = load atomic i64, ptr %at_wanted monotonic, align 8
  %single = icmp eq i64 %wanted, 0
  br i1 %single, label %alone, label %ask
ask:
  %swap = cmpxchg ptr %in_use, i64 0, i64 1 acquire monotonic
  %free = extractvalue { i64, i1 } %swap, 1
  br i1 %free, label %start, label %alone

alone:
  %i = phi i64 [ 0, %0 ], [ 0, %ask ], [ %j, %alone ]
  call void %function(ptr %context, i64 %i)
  %j = add i64 %i, 1
  %more = icmp slt i64 %j, %count
  br i1 %more, label %alone, label %end

start:
  %running = load i64, ptr %at_running
  %missing = icmp slt i64 %running, %wanted
  br i1 %missing, label %begin, label %publish
begin:
  %line = mul i64 %running, 8
  %offset = add i64 %line, 32
  %own = call ptr @word(ptr %state, i64 %offset)
  %thread = call i64 @PyThread_start_new_thread(ptr @worker, ptr %own)
  %failed = icmp eq i64 %thread, -1
  br i1 %failed, label %publish, label %begun
begun:
  %one_more = add i64 %running, 1
  store i64 %one_more, ptr %at_running
  br label %start

publish:
  %at_function = call ptr @word(ptr %state, i64 27)
  %at_context = call ptr @word(ptr %state, i64 28)
  %left = call ptr @word(ptr %state, i64 8)
  store atomic ptr %function, ptr %at_function monotonic, align 8
  store atomic ptr %context, ptr %at_context monotonic, align 8
  store atomic i64 %count, ptr %left monotonic, align 8
  %old = load atomic i64, ptr %state monotonic, align 8
  %job = add i64 %old, 4294967296
  %ticket = or i64 %job, %count
  store atomic i64 %ticket, ptr %state seq_cst, align 8
  br label %wake
wake:
  %k = phi i64 [ 0, %publish ], [ %next, %woken ]
  %next = add i64 %k, 1
  %some = icmp slt i64 %k, %running
  %enough = icmp slt i64 %next, %count
  %go = and i1 %some, %enough
  br i1 %go, label %look, label %help
look:
  %its = mul i64 %k, 8
  %there = add i64 %its, 32
  %place = call ptr @word(ptr %state, i64 %there)
  %asleep = atomicrmw xchg ptr %place, i64 0 seq_cst
  %sleeps = icmp eq i64 %asleep, 1
  br i1 %sleeps, label %rouse, label %woken
rouse:
  %at_lock = call ptr @word(ptr %place, i64 1)
  %lock = load ptr, ptr %at_lock
  call void @PyThread_release_lock(ptr %lock)
  br label %woken
woken:
  br label %wake

help:
  %last = call i1 @work(ptr %state)
  br i1 %last, label %leave, label %wait
wait:
  %at_caller = call ptr @word(ptr %state, i64 26)
  %caller = load ptr, ptr %at_caller
  %got = call i32 @PyThread_acquire_lock(ptr %caller, i32 1)
  br label %leave
leave:
  store atomic i64 0, ptr %in_use release, align 8
  br label %end
end:
  ret void
}
"""
THREADS = ("PyThread_start_new_thread", "PyThread_acquire_lock", "PyThread_release_lock")


def threads() -> int:
    """Give how many threads share a loop."""
    stated = os.environ.get("ARRAYPORT_NUM_THREADS")
    if stated is None:
        mine: Callable[[int], set[int]] | None = getattr(os, "sched_getaffinity", None)
        return len(mine(0)) if mine else os.cpu_count() or 1
    if not stated.isdecimal() or int(stated) < 1:
        raise ValueError(
            f"environment variable ARRAYPORT_NUM_THREADS is {stated!r}: write how many threads "
            "may share a loop, 1 or more"
        )
    return int(stated)


def taken() -> int:
    """Make a lock that is taken."""
    allocate, acquire = ctypes.pythonapi.PyThread_allocate_lock, ctypes.pythonapi[THREADS[1]]
    allocate.restype = ctypes.c_void_p
    acquire.argtypes = [ctypes.c_void_p, ctypes.c_int]
    lock = allocate()
    acquire(lock, 1)
    return int(lock)


@cache
def library() -> llvm.Library:
    """Give the code that all of this is, with no worker yet; it stays as long as the process."""
    known = {name: llvm.address_in_python(name) for name in THREADS}
    made = llvm.load(objects.translated(TEXT), [SHARE, "state"], known)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(made))
    want(made, threads())
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: want(made, threads()))
    return made


def want(made: llvm.Library, count: int) -> None:
    """Begin anew, as the child of a fork must: so many threads share, each made when first needed.

    Workers may read a state at any time, so its memory is never given back.
    """
    words = (ctypes.c_int64 * (HEAD + LINE * (count + 1)))()
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(words))
    state = ctypes.addressof(words)
    first = -state // 8 % LINE  # lines are whole lines of the cache
    state += 8 * first
    words[first + 25], words[first + 26] = count - 1, taken()
    for worker in range(count - 1):
        line = first + HEAD + LINE * worker
        words[line + 1], words[line + 2] = taken(), state
    ctypes.c_void_p.from_address(made.address("state")).value = state


def share() -> int:
    """Give where the function is that shares a loop."""
    return library().address(SHARE)
