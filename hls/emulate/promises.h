
// ---- what a loop promises of its iterations (#pragma ivdep), held against what they do to memory

// Who came last: the iteration (from 1 on; 0 is none), where in the source, through which memory object.
struct Touch {
    u64 iteration;
    u32 site, memory;
};

// What one run of a loop did to the byte at `address`. A read may hide one of an iteration before that a write must still meet.
// Stores that left it as it was are silent where the loop allows these; two of them, of different iterations, tell whether
// another iteration than the present one made any. `old` are reads of what a later write changed: a silent store of what that
// write left, in an iteration that comes earlier in hardware, would show them its value instead.
struct Trace {
    u64 address, run;
    Touch write, read, read_before, silent, silent_before, old, old_before;
};

// No two iterations less than `safelen` apart (0: none at all) meet in `memory` (0: in any).
struct Vow {
    u32 memory;
    u64 safelen;
};

// A loop with vows that an item is in; `outer` is the next one around it. Its table is kept for the next run of any such loop.
struct Promise {
    Promise *outer, *every;
    u64 iteration, run;
    const Vow *vows;
    u64 vow_count;
    u32 site;
    bool silent;  // a store that leaves an element as it was may meet loads, and others of its kind
    Trace *traces;
    u64 capacity, count;
};

static Promise *every_promise, *idle_promises;
static u64 promise_runs;

static Promise *open_promise(Promise *outer, u32 site, const Vow *vows, u64 vow_count, bool silent) {
    Promise *p = idle_promises;
    if (p) {
        idle_promises = p->outer;
    } else {
        p = (Promise *)calloc(1, sizeof(Promise));
        p->every = every_promise;
        every_promise = p;
    }
    p->outer = outer;
    p->iteration = p->count = 0;
    p->run = ++promise_runs;
    p->vows = vows;
    p->vow_count = vow_count;
    p->site = site;
    p->silent = silent;
    return p;
}

// Returns the loop around it.
static Promise *close_promise(Promise *p) {
    Promise *outer = p->outer;
    p->outer = idle_promises;
    idle_promises = p;
    return outer;
}

// After a run that went wrong, none is in use.
static void forget_promises() {
    idle_promises = 0;
    for (Promise *p = every_promise; p; p = p->every) close_promise(p);
}

static Trace *trace_at(Promise *p, u64 address) {
    u64 place = (address * 0x9e3779b97f4a7c15u) >> 20;
    while (p->traces[place & (p->capacity - 1)].run == p->run && p->traces[place & (p->capacity - 1)].address != address) place++;
    return &p->traces[place & (p->capacity - 1)];
}

static void more_traces(Promise *p) {
    Trace *old = p->traces;
    u64 old_capacity = p->capacity;
    p->capacity = old_capacity ? 2 * old_capacity : 256;
    p->traces = (Trace *)calloc(p->capacity, sizeof(Trace));
    for (u64 k = 0; k < old_capacity; k++)
        if (old[k].run == p->run) *trace_at(p, old[k].address) = old[k];
    free(old);
}

static Trace *trace_of(Promise *p, u64 address) {
    if (2 * p->count >= p->capacity) more_traces(p);
    Trace *trace = trace_at(p, address);
    if (trace->run != p->run) {
        *trace = Trace{address, p->run, {}, {}, {}, {}, {}, {}, {}};
        p->count++;
    }
    return trace;
}

static bool is_broken(const Promise *p, const Touch &before, const Touch &now) {
    if (!before.iteration || before.iteration == now.iteration) return false;
    for (const Vow *vow = p->vows; vow < p->vows + p->vow_count; vow++) {
        bool meant = !vow->memory || vow->memory == before.memory || vow->memory == now.memory;
        if (meant && (!vow->safelen || now.iteration - before.iteration < vow->safelen)) return true;
    }
    return false;
}

[[noreturn]] COLD void broken(const Promise *promise, const Ptr &p, u64 bytes, const Touch &before, const Touch &now, u64 writes) {
    control->memory = now.memory;
    control->offset = (i64)p.off;
    control->bytes = bytes;
    control->promise_site = promise->site;
    control->earlier_site = before.site;
    control->earlier = before.iteration - 1;
    control->later = now.iteration - 1;
    control->writes = writes;  // bit 0: the earlier access, bit 1: the later one
    end_run(BROKEN_PROMISE, now.site);
}

static void note(Touch &last, Touch &before, const Touch &now) {
    if (last.iteration != now.iteration) before = last;
    last = now;
}

// The last touch by another iteration than the present one.
static const Touch &by_another(const Touch &last, const Touch &before, const Touch &now) {
    return last.iteration == now.iteration ? before : last;
}

static void hold_silent(Promise *promise, Trace *t, const Ptr &p, u64 bytes, const Touch &now) {
    const Touch &old = by_another(t->old, t->old_before, now);
    if (is_broken(promise, old, now)) broken(promise, p, bytes, old, now, 2);
    note(t->silent, t->silent_before, now);
}

static void hold_write(Promise *promise, Trace *t, const Ptr &p, u64 bytes, const Touch &now) {
    const Touch &silent = by_another(t->silent, t->silent_before, now);
    if (is_broken(promise, silent, now)) broken(promise, p, bytes, silent, now, 3);
    const Touch &read = by_another(t->read, t->read_before, now);
    if (is_broken(promise, read, now)) broken(promise, p, bytes, read, now, 2);
    t->write = now;
    if (promise->silent && t->read.iteration) t->old = t->read, t->old_before = t->read_before;
}

static __attribute__((noinline)) void hold(Promise *promise, const Ptr &p, u64 bytes, u32 site, bool writes, bool same) {
    const Touch now{promise->iteration, site, p.memory};
    for (u64 k = 0; k < bytes; k++) {
        Trace *t = trace_of(promise, (u64)(p.data + p.off + k));
        if (same && promise->silent) {
            hold_silent(promise, t, p, bytes, now);
            continue;
        }
        if (is_broken(promise, t->write, now)) broken(promise, p, bytes, t->write, now, writes ? 3 : 1);
        if (writes) hold_write(promise, t, p, bytes, now);
        else note(t->read, t->read_before, now);
    }
}

// The place of an access that begins, after it was held against all promises.
INLINE const Ptr &touched(Promise *innermost, const Ptr &p, u64 bytes, u32 site, bool writes, bool same = false) {
    for (Promise *one = innermost; one; one = one->outer) hold(one, p, bytes, site, writes, same);
    return p;
}

// Whether a store of this value leaves the element as it is; asked only where some loop allows that.
template <class T> INLINE bool leaves(const Promise *innermost, const Ptr &p, T value) {
    bool asked = false;
    for (const Promise *one = innermost; one; one = one->outer) asked |= one->silent;
    if (!asked || !p.memory || p.off > p.size || p.size - p.off < sizeof value) return false;
    return !memcmp(p.data + p.off, &value, sizeof value);
}

// A memory that is new has no history, whatever stood in its place before.
static void untouched(Promise *innermost, const Ptr &p) {
    for (Promise *one = innermost; one; one = one->outer)
        for (u64 k = 0; k < p.size && one->capacity; k++) {
            Trace *t = trace_at(one, (u64)(p.data + k));
            if (t->run == one->run) *t = Trace{t->address, t->run, {}, {}, {}, {}, {}, {}, {}};
        }
}
