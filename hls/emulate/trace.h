
// ---- the events of a launch, recorded for the replay on its plan (hls/model/replay). The text that includes this defines
// TRACE_BYTES, the most bytes that the record of one loop may take; and afterwards the tables of what is recorded.

// The iterations of one loop, or the one of a kernel's body, in program order: rows of `width` numbers. The first is 1 for
// the last iteration of an invocation; the others say what each operation did, 0 if it was off: an access its place in
// the buffer plus 1, a loop the number of its first row plus 1, others 1. An access of several lanes has three numbers: the
// place of lane 0, which may lie outside of the buffer, plus TRACE_LANE_ZERO; and of the lowest and the highest lane that is
// enabled the place plus 1, 0 if none is.
struct Rows {
    u64 *data, *row;  // `row` is the one that is being written
    u64 count, room;
};

// What depends on the cycle, in program order (rewind.h, sim/model/engine/outcomes.h): of the calls of one place that do not
// block whether they transfer a value, 1 or 0; of the groups of a launch their compute units, times OUTCOME_UNIT. OUTCOME_KNOWN
// is added where hardware did that, and it is not only assumed.
#define OUTCOME_KNOWN 2
#define OUTCOME_UNIT 4
struct Outcomes {
    u32 *values;
    u64 count, room;
    u64 next;                // call
    u64 run, known, ran[2];  // calls until now with the same outcome, and how many of them are known; the run before, by outcome
    bool last;
};

struct Observed {
    Rows *loops;
    Outcomes *outcomes;
    void *saved;    // its state at the mark, if it had begun then (rewind.h)
    bool full;      // a record has reached its limit: it is not complete
    u64 scratch[64];  // where a row goes for which there is no room
    u64 tick, number;  // `tick` is not used here
    Observed *next;
};

extern const u32 trace_loops;
extern const u32 trace_width[];  // numbers in a row, by loop
extern const bool trace_turns[];  // barrier loops
extern const u32 trace_outcomes;  // places of what depends on the cycle
static bool steady;  // rows keep their places, as the replay refers to them while more are written

static Observed *finished_observations;

static Observed *begin_observing(u64 number) {
    Observed *o = (Observed *)calloc(1, sizeof(Observed));
    o->loops = (Rows *)calloc(trace_loops + 1, sizeof(Rows));
    o->outcomes = (Outcomes *)calloc(trace_outcomes + 1, sizeof(Outcomes));
    o->number = number;
    return o;
}

static void forget_observed(Observed *o) {
    for (u32 k = 0; k < trace_loops; k++)
        if (o->loops[k].data) munmap(o->loops[k].data, o->loops[k].room * trace_width[k] * sizeof(u64));
    for (u32 k = 0; k < trace_outcomes; k++) free(o->outcomes[k].values);
    free(o->outcomes);
    free(o->loops);
    free(o);
}

static __attribute__((noinline)) bool more_rows(Rows &rows, u64 width) {
    const u64 room = steady ? TRACE_BYTES / sizeof(u64) / width : rows.room ? 2 * rows.room : 1024;
    if (room == rows.room) return false;
    const u64 before = rows.room * width * sizeof(u64), bytes = room * width * sizeof(u64);
    if (bytes > TRACE_BYTES) return false;
    void *place = rows.data ? mremap(rows.data, before, bytes, MREMAP_MAYMOVE)
                            : mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) return false;
    rows.data = (u64 *)place;
    rows.room = room;
    return true;
}

// Begins the row of an iteration; its numbers are 0.
INLINE void trace_row(Observed *o, u32 loop, u32 width) {
    Rows &rows = o->loops[loop];
    if (UNLIKELY(rows.count == rows.room && !more_rows(rows, width))) {
        o->full = true;
        rows.row = o->scratch;
        return;
    }
    rows.row = rows.data + rows.count++ * width;
}

// The invocation that ends had so many `trips`; `outer` is the loop around it, `column` where its row says so.
INLINE void trace_leave(Observed *o, u32 loop, u64 trips, u32 outer, u32 column) {
    Rows &rows = o->loops[loop];
    rows.row[0] = 1;
    o->loops[outer].row[column] = rows.count - trips + 1;
}

// In a barrier loop the work-items of a group take turns, so the iterations of one do not stand behind each other: column 1 is 1
// for the last work-item of the group, column 2 the number of the row of the next iteration plus 1, column 3 that of the first.
INLINE void trace_turn(Observed *o, u32 loop, u32 width, bool last) {
    Rows &rows = o->loops[loop];
    const u64 before = rows.row && !rows.row[0] ? (u64)(rows.row - rows.data) / width + 1 : 0;
    trace_row(o, loop, width);
    if (UNLIKELY(o->full)) return;
    rows.row[1] = last;
    rows.row[3] = rows.count;
    if (!before) return;
    u64 *earlier = rows.data + (before - 1) * width;
    earlier[2] = rows.count;
    rows.row[3] = earlier[3];
}

// The work-item leaves the barrier loop.
INLINE void trace_leave_turns(Observed *o, u32 loop, u32 outer, u32 column) {
    u64 *row = o->loops[loop].row;
    row[0] = 1;
    o->loops[outer].row[column] = row[3];
}

// The rows that a work-item is writing, by loop, for the time of others: their numbers plus 1.
static void keep_rows(const Observed *o, u64 *kept) {
    if (UNLIKELY(o->full)) return;
    for (u32 k = 0; k < trace_loops; k++) {
        const Rows &rows = o->loops[k];
        kept[k] = rows.row ? (u64)(rows.row - rows.data) / trace_width[k] + 1 : 0;
    }
}

// A work-item begins: it is in no barrier loop.
static void begin_rows(Observed *o) {
    for (u32 k = 0; k < trace_loops; k++)
        if (trace_turns[k]) o->loops[k].row = 0;
}

static void continue_rows(Observed *o, const u64 *kept) {
    if (UNLIKELY(o->full)) return;
    for (u32 k = 0; k < trace_loops; k++) {
        Rows &rows = o->loops[k];
        rows.row = kept[k] ? rows.data + (kept[k] - 1) * trace_width[k] : 0;
    }
}

INLINE void trace_mark(Observed *o, u32 loop, u32 column, u64 number) { o->loops[loop].row[column] = number; }

INLINE const Ptr &traced(Observed *o, u32 loop, u32 column, const Ptr &p) {
    trace_mark(o, loop, column, p.off + 1);
    return p;
}

#define TRACE_LANE_ZERO (1ull << 48)
INLINE void trace_lanes(Observed *o, u32 loop, u32 column, const Ptr &p) {
    trace_mark(o, loop, column, p.off + TRACE_LANE_ZERO);
}

// An enabled lane of the access; lanes come in ascending order.
INLINE const Ptr &traced_lane(Observed *o, u32 loop, u32 column, const Ptr &p) {
    u64 *cell = o->loops[loop].row + column;
    cell[2] = p.off + 1;
    if (!cell[1]) cell[1] = p.off + 1;
    return p;
}

// An access that belongs to a run, of which `last` is the last place.
INLINE const Ptr &traced_run(Observed *o, u32 loop, u32 column, const Ptr &p, const Ptr &last) {
    trace_mark(o, loop, column, p.off + 1);
    trace_mark(o, loop, column + 1, last.off + 1);
    return p;
}

static Observed *running_observation(u64 number);

static Observed *observation(u64 number) {
    Observed *o = finished_observations;
    while (o && o->number != number) o = o->next;
    return o ? o : running_observation(number);
}

// Where the rows of a loop lie in launch `number`, and how many they are; false if it is not known, or if the record is not
// complete. Those of a launch that has not ended stay there until it continues.
extern "C" bool sluice_traced(u64 number, u32 loop, u64 **data, u64 *count) {
    Observed *o = observation(number);
    if (!o || o->full) return false;
    *data = o->loops[loop].data;
    *count = o->loops[loop].count;
    return true;
}

// What depends on the cycle, by place; the launch is known.
extern "C" Outcomes *sluice_outcomes(u64 number) { return observation(number)->outcomes; }

extern "C" void sluice_forget_observed(u64 number) {
    for (Observed **place = &finished_observations; *place; place = &(*place)->next)
        if ((*place)->number == number) {
            Observed *o = *place;
            *place = o->next;
            forget_observed(o);
            return;
        }
}
