
// ---- launches that run again from a mark, for the replay (hls/model/replay): whether a call that does not block transfers a
// value, and which compute unit runs a group, depends on the cycle, which only the replay knows. Outcomes are assumed; where hardware has another one, the launches
// run again with those that are known. Buffers are the caller's to save.

// Bytes as they were at the mark.
struct Bytes {
    u8 *place, *copy;
    u64 size;
};

struct SavedRows {
    u64 count, *row;
    Bytes content;  // of the row that is being written
};

struct SavedLaunch {
    Launched launched;
    Outcomes *outcomes;
    SavedRows *rows;
    Bytes decisions;
    Bytes *pieces;
    u64 count, room;
};

struct SavedQueue {
    u8 *data;
    u64 count;
};

static SavedQueue *saved_queues;
static u64 saved_queue_count;
static bool settling;  // calls wait until their outcomes are known

static Bytes saved_bytes(void *place, u64 size) {
    Bytes saved = {(u8 *)place, (u8 *)malloc(size + 1), size};
    memcpy(saved.copy, place, size);
    return saved;
}

static void keep_piece(SavedLaunch &saved, void *place, u64 size) {
    if (!place || !size) return;
    if (saved.count == saved.room) {
        saved.room = saved.room ? 2 * saved.room : 16;
        saved.pieces = (Bytes *)realloc(saved.pieces, saved.room * sizeof(Bytes));
    }
    saved.pieces[saved.count++] = saved_bytes(place, size);
}

// What a work-item that waits has on its stack, which ends at `top`.
static void keep_stack(SavedLaunch &saved, const Fiber &fiber, u8 *stack, u8 *top) {
    if (!fiber.begun || fiber.state == ENDED) return;
    u8 *low = fiber.low < stack ? stack : fiber.low;
    keep_piece(saved, low, (u64)(top - low));
}

static void keep_group(SavedLaunch &saved, Group *group) {
    if (!group) return;
    keep_piece(saved, group, sizeof(Group));
    keep_piece(saved, group->members, group->room * sizeof(Member));
    keep_piece(saved, group->rows, group->room * trace_loops * sizeof(u64));
    for (u64 k = 0; k < group->count; k++) {
        const Member &member = group->members[k];
        u8 *stack = group->stacks + k * group->stack, *top = stack + group->stack;
        if (member.fiber.begun) keep_stack(saved, member.fiber, stack, top);
        else keep_piece(saved, member.start, (u64)(top - (u8 *)member.start));
    }
}

// Rows that are being written: the newest of each loop, and those of work-items that others have a turn before.
static void keep_rows_of(SavedLaunch &saved, Launched &r) {
    saved.rows = (SavedRows *)calloc(trace_loops + 1, sizeof(SavedRows));
    for (u32 k = 0; k < trace_loops; k++) {
        const Rows &rows = r.observed->loops[k];
        const u64 bytes = trace_width[k] * sizeof(u64);
        saved.rows[k] = {rows.count, rows.row, {0, 0, 0}};
        if (rows.row) saved.rows[k].content = saved_bytes(rows.row, bytes);
        for (u64 n = 0; r.work_group && n < r.work_group->count; n++)
            if (const u64 row = r.work_group->members[n].rows[k]) keep_piece(saved, rows.data + (row - 1) * trace_width[k], bytes);
    }
}

static SavedLaunch *saved_launch(Launched &r) {
    SavedLaunch *saved = (SavedLaunch *)calloc(1, sizeof(SavedLaunch));
    saved->launched = r;
    keep_piece(*saved, r.fibers, r.count * sizeof(Fiber));
    keep_piece(*saved, r.active, r.count * sizeof(Fiber *));
    keep_piece(*saved, r.arrived, r.count * sizeof(Fiber *));
    keep_piece(*saved, r.shared, 2 * r.shared_bytes);
    const u64 stack = kernels[r.launch.kernel].stack;
    for (u64 k = 0; k < r.count; k++) keep_stack(*saved, r.fibers[k], r.stacks + k * stack, r.stacks + (k + 1) * stack);
    keep_group(*saved, r.work_group);
    keep_rows_of(*saved, r);
    saved->decisions = saved_bytes(r.decisions, r.decision_count * sizeof(Decision));
    const u64 outcomes = trace_outcomes * sizeof(Outcomes);
    saved->outcomes = (Outcomes *)memcpy(malloc(outcomes + 1), r.observed->outcomes, outcomes);
    return saved;
}

static void forget_saved(SavedLaunch *saved) {
    if (!saved) return;
    for (u64 k = 0; k < saved->count; k++) free(saved->pieces[k].copy);
    for (u32 k = 0; k < trace_loops; k++) free(saved->rows[k].content.copy);
    free(saved->decisions.copy);
    free(saved->pieces);
    free(saved->rows);
    free(saved->outcomes);
    free(saved);
}

static void forget_mark() {
    for (Launched *first : {first_launched, first_ended})
        for (Launched *r = first; r; r = r->next) {
            forget_saved((SavedLaunch *)r->observed->saved);
            r->observed->saved = 0;
        }
    for (u64 k = 0; k < saved_queue_count; k++) free(saved_queues[k].data);
    free(saved_queues);
    saved_queues = 0;
    saved_queue_count = 0;
    marked = settling = false;
}

// From now on launches can be rewound to what they are now; those that are started later, to their beginning.
extern "C" void sluice_mark(u64 queue_count) {
    steady = marked = true;
    for (Launched *r = first_launched; r; r = r->next)
        if (r->open) r->observed->saved = saved_launch(*r);
    saved_queues = (SavedQueue *)calloc(queue_count + 1, sizeof(SavedQueue));
    saved_queue_count = queue_count;
    for (u64 k = 0; k < queue_count; k++) {
        const Queue &q = queues[k];
        saved_queues[k] = {(u8 *)malloc(q.count * q.size + 1), q.count};
        for (u64 n = 0; n < q.count; n++) memcpy(saved_queues[k].data + n * q.size, q.data + (q.first + n) % q.capacity * q.size, q.size);
    }
}

// ---- back to the mark

static void empty_rows(Rows &rows, u64 first, u64 width) {
    memset(rows.data + first * width, 0, (rows.count - first) * width * sizeof(u64));
    rows.count = first;
}

static void begin_again(Launched &r) {
    give_back(r.shared, 2 * r.shared_bytes);
    give_back(r.stacks, r.stacks_bytes);
    for (void *one : {(void *)r.fibers, (void *)r.active, (void *)r.arrived, (void *)r.decisions}) free(one);
    leave_group(r.work_group);
    Launched fresh = {};
    fresh.launch = r.launch;
    fresh.number = r.number;
    fresh.observed = r.observed;
    r = fresh;
    for (u32 k = 0; k < trace_loops; k++) {
        Rows &rows = r.observed->loops[k];
        if (rows.data) empty_rows(rows, 0, trace_width[k]);
        rows.row = 0;
    }
    for (u32 k = 0; k < trace_outcomes; k++) {
        Outcomes &o = r.observed->outcomes[k];
        o = {o.values, o.count, o.room, 0, 0, 0, {0, 0}, false};
    }
}

static void continue_from(Launched &r, const SavedLaunch &saved) {
    Decision *decisions = r.decisions;
    const u64 room = r.decision_room;
    if (r.work_group != saved.launched.work_group) leave_group(r.work_group);
    r = saved.launched;
    r.decisions = decisions;
    r.decision_room = room;
    memcpy(r.decisions, saved.decisions.copy, saved.decisions.size);
    for (u32 k = 0; k < trace_loops; k++) {
        Rows &rows = r.observed->loops[k];
        if (rows.data) empty_rows(rows, saved.rows[k].count, trace_width[k]);
        rows.row = saved.rows[k].row;
        if (rows.row) memcpy(rows.row, saved.rows[k].content.copy, saved.rows[k].content.size);
    }
    for (u64 k = 0; k < saved.count; k++) memcpy(saved.pieces[k].place, saved.pieces[k].copy, saved.pieces[k].size);
    for (u32 k = 0; k < trace_outcomes; k++) {
        Outcomes &o = r.observed->outcomes[k];
        const Outcomes &then = saved.outcomes[k];
        o = {o.values, o.count, o.room, then.next, then.run, then.known, {then.ran[0], then.ran[1]}, then.last};
    }
}

// Launches in the order in which they were started.
static void insert_launch(Launched *r) {
    Launched **place = &first_launched;
    while (*place && (*place)->number < r->number) place = &(*place)->next;
    r->next = *place;
    *place = r;
}

static void keep_observed(Launched *r);

// Back to the mark, with the outcomes that are known by now. `settle`: a call whose outcome is not known waits, so that
// launches that never end come to where they are in hardware.
extern "C" void sluice_rewind(u64 settle) {
    settling = settle;
    Launched *every = 0;
    for (Launched **first : {&first_launched, &first_ended})
        while (Launched *r = *first) {
            *first = r->next;
            r->next = every;
            every = r;
        }
    while (Launched *r = every) {
        every = r->next;
        *r->launch.ended = 0;
        SavedLaunch *saved = (SavedLaunch *)r->observed->saved;
        if (saved) continue_from(*r, *saved);
        else begin_again(*r);
        insert_launch(r);
    }
    for (u64 k = 0; k < saved_queue_count; k++) {
        Queue &q = queues[k];
        q.first = 0;
        q.count = saved_queues[k].count;
        if (q.count) memcpy(q.data, saved_queues[k].data, q.count * q.size);
    }
}

// Launches stay as they are now; those that have ended can be asked for their records, as any.
extern "C" void sluice_commit() {
    forget_mark();
    while (Launched *r = first_ended) {
        first_ended = r->next;
        keep_observed(r);
        release(r);
    }
}

// ---- calls that do not block

INLINE bool is_known(const Outcomes &o) { return o.next < o.count && o.values[o.next] & OUTCOME_KNOWN; }

static void note_value(Outcomes &o, u32 value) {
    if (o.next == o.room) {
        o.room = o.room ? 2 * o.room : 1024;
        o.values = (u32 *)realloc(o.values, o.room * sizeof(u32));
    }
    o.values[o.next++] = value;
    if (o.count < o.next) o.count = o.next;
}

static void note_outcome(Outcomes &o, bool happens, bool known) {
    note_value(o, happens | (known ? OUTCOME_KNOWN : 0));
    if (o.run && o.last != happens) {
        o.ran[o.last] = o.run;
        o.run = o.known = 0;
    }
    o.last = happens;
    o.run++;
    o.known += known;
}

// Calls without a transfer come as often as they came last time, or, where hardware had more of them, twice as often as it
// had: so a long wait is assumed in few attempts.
static bool expects_none(const Outcomes &o) {
    const u64 run = o.run && !o.last ? o.run : 0;
    if (run) return run < o.ran[0] || (o.known >= o.ran[0] && run < 2 * o.known);
    return o.run && o.ran[1] && o.ran[0] && o.run >= o.ran[1];
}

// Whether a call transfers a value; `number` is that of its place. A transfer that is known to happen may find the queue
// full, as it need not be as deep as that of hardware.
static __attribute__((noinline)) bool outcome(Item &item, u32 number, const Queue &q, bool writes, u32 site) {
    Outcomes &o = item.launched->observed->outcomes[number];
    while (settling && !is_known(o)) wait_for(q, writes, site);
    if (is_known(o)) {
        const bool happens = o.values[o.next] & 1;
        note_outcome(o, happens, true);
        moves++;
        while (happens && !writes && !q.count) wait_for(q, writes, site);
        return happens;
    }
    bool happens = false;
    if (!expects_none(o)) {
        const auto stuck = [&] { return writes ? is_full(q) : !q.count; };
        if (stuck()) wait_for(q, writes, site, POLLING);
        happens = !stuck();
    }
    note_outcome(o, happens, false);
    return happens;
}

// ---- compute units: groups are assumed to come to them in turn

static __attribute__((noinline)) u64 unit_of(Item &item, u32 number, u64 units) {
    Outcomes &o = item.launched->observed->outcomes[number];
    const u32 value = is_known(o) ? o.values[o.next] : (u32)(o.next % units * OUTCOME_UNIT);
    note_value(o, value);
    return value / OUTCOME_UNIT;
}
