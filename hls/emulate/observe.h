
// ---- what a launch does, counted for the performance model (hls/model/workload.py). The text that includes this defines
// WORD_BYTES and ROW_BYTES, powers of two, MOST_LEVELS, the loops around an access that are told apart, and CACHES, the
// direct-mapped caches of 1, 2, 4, ... words that are tried at a time; and afterwards the tables of what is counted.

const u32 EXACT = 24;  // values of a histogram that are counted one by one

// How often each value occurred: the first EXACT of them exactly, the others by the bits of their magnitude.
struct Counts {
    i64 value[EXACT];
    u64 count[EXACT], above[64], below[64];
    u32 used, last;
};

static __attribute__((noinline)) void count_other(Counts &c, i64 value) {
    for (u32 k = 0; k < c.used; k++)
        if (c.value[k] == value) {
            c.count[k]++;
            c.last = k;
            return;
        }
    if (c.used < EXACT) {
        c.last = c.used++;
        c.value[c.last] = value;
        c.count[c.last] = 1;
        return;
    }
    u64 size = value < 0 ? 0 - (u64)value : (u64)value;
    (value < 0 ? c.below : c.above)[size ? 63 - __builtin_clzll(size) : 0]++;
}

INLINE void count_value(Counts &c, i64 value) {
    if (__builtin_expect(c.used && c.value[c.last] == value, 1)) c.count[c.last]++;
    else count_other(c, value);
}

// A set of numbers below `room`, as bits.
struct Bits {
    u8 *bits;
    u64 room;
};

// Memory that reads as 0 and takes no room until it is written; null if the machine has none left.
static u8 *blank(u64 bytes) {
    void *place = mmap(0, bytes ? bytes : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return place == MAP_FAILED ? 0 : (u8 *)place;
}

// Adds a number; whether it is new. `set` has room for `room` numbers.
INLINE bool add_bit(Bits &set, u64 number, u64 room) {
    if (!set.bits) set = Bits{blank(room / 8 + 1), room};
    if (!set.bits || number >= set.room) return false;
    u8 mask = 1 << (number & 7), &byte = set.bits[number >> 3];
    bool fresh = !(byte & mask);
    byte |= mask;
    return fresh;
}

struct LoopRuns {
    u64 iterations;
    Counts trips;  // of each invocation; 0 where the loop was not entered
};

struct BranchRuns {
    u64 reached, held;
};

struct AccessRuns {
    u64 count, words, rows, same_word, cold, misses, crossing, other_objects;
    u64 memory, word, row;  // of the access before; `words` and `rows` are distinct ones
    u64 reuse[CACHES];      // accesses to another word than before that find it first in a cache of 2^k words
    i64 base[MOST_LEVELS];
    u64 id[MOST_LEVELS];
    Counts stride[MOST_LEVELS];  // [0] is the innermost loop; of the first access in each iteration, against the one before
    Counts conflicts;            // loads: iterations begun since the element was stored
    u64 steady;                  // conflicts as far from the store as the one of the execution before
    i64 apart;                   // of the execution before: the same iterations; 0 if it met no store
    Bits seen_words, seen_rows;
    u64 *tags;
};

// The launch's last store to each four bytes of a memory object: the tick after it, 0 if none.
struct Stores {
    u64 *tick;
    u64 granules;
};

struct ChannelRuns {
    u64 calls, done;
};

struct Observed {
    LoopRuns *loops;
    BranchRuns *branches;
    AccessRuns *accesses;
    ChannelRuns *channels;
    Stores *stores;  // by memory object
    u64 tick;        // iterations and work-items begun
    u64 number;      // of the launch
    Observed *next;
};

extern const u32 observed_loops, observed_branches, observed_accesses, observed_channels, observed_memories;
extern const u8 is_buffer[];  // of each memory object: whether it is a buffer of the host

static Observed *finished_observations;

template <class T> static T *blank_array(u64 length) { return (T *)blank(length * sizeof(T)); }

static Observed *begin_observing(u64 number) {
    Observed *o = (Observed *)calloc(1, sizeof(Observed));
    o->loops = blank_array<LoopRuns>(observed_loops);
    o->branches = blank_array<BranchRuns>(observed_branches);
    o->accesses = blank_array<AccessRuns>(observed_accesses);
    o->channels = blank_array<ChannelRuns>(observed_channels);
    o->stores = blank_array<Stores>(observed_memories);
    o->number = number;
    return o;
}

static void forget_observed(Observed *o) {
    auto drop = [](void *place, u64 bytes) { if (place) munmap(place, bytes ? bytes : 1); };
    for (u32 k = 0; k < observed_accesses; k++) {
        AccessRuns &a = o->accesses[k];
        drop(a.seen_words.bits, a.seen_words.room / 8 + 1);
        drop(a.seen_rows.bits, a.seen_rows.room / 8 + 1);
        drop(a.tags, sizeof(u64) << CACHES);
    }
    for (u32 k = 0; k < observed_memories; k++) drop(o->stores[k].tick, o->stores[k].granules * sizeof(u64));
    drop(o->loops, observed_loops * sizeof(LoopRuns));
    drop(o->branches, observed_branches * sizeof(BranchRuns));
    drop(o->accesses, observed_accesses * sizeof(AccessRuns));
    drop(o->channels, observed_channels * sizeof(ChannelRuns));
    drop(o->stores, observed_memories * sizeof(Stores));
    free(o);
}

// The word is looked up in all caches at once: one that is in a direct-mapped cache is in every larger one too, since the
// larger one divides its sets further (Hill and Smith's set refinement).
static __attribute__((noinline)) void other_word(AccessRuns &a, u64 word, u64 line, u64 lines) {
    if (!a.tags) a.tags = (u64 *)blank(sizeof(u64) << CACHES);
    if (!a.tags) return;
    const bool fresh = add_bit(a.seen_words, line, lines);
    a.words += fresh;
    u32 k = 0;
    for (; k < CACHES; k++) {
        u64 &tag = a.tags[((u64)1 << k) + (word & (((u64)1 << k) - 1))];
        if (tag == word + 1) break;
        tag = word + 1;
    }
    if (k < CACHES) a.reuse[k]++;
    else if (fresh) a.cold++;
    else a.misses++;
}

INLINE void see_word(AccessRuns &a, const Ptr &p, u64 line) {
    const u64 word = ((u64)p.memory << 40) + line;
    if (a.count > 1 && a.word == word) {
        a.same_word++;
        return;
    }
    a.word = word;
    other_word(a, word, line, p.size / WORD_BYTES + 1);
    const u64 row = line / (ROW_BYTES / WORD_BYTES);
    if (a.row != row + 1) {
        a.row = row + 1;
        a.rows += add_bit(a.seen_rows, row, p.size / ROW_BYTES + 1);
    }
}

// The stride at the outermost loop that went on by one iteration since the access before.
template <u32 N> INLINE void see_stride(AccessRuns &a, const Ptr &p, const u64 (&ids)[N]) {
    const i64 at = (i64)p.off;
    u32 outermost = 0;
    for (u32 k = 1; k < N; k++)
        if (a.id[k] != ids[k]) outermost = k;
    if (a.count > 1 && a.id[outermost] + 1 == ids[outermost]) count_value(a.stride[outermost], at - a.base[outermost]);
    for (u32 k = 0; k < N; k++) {
        if (k <= outermost) a.base[k] = at;
        a.id[k] = ids[k];
    }
}

static __attribute__((noinline)) void see_store(Observed &o, const Ptr &p, u64 bytes) {
    Stores &s = o.stores[p.memory];
    if (!s.tick) s = Stores{blank_array<u64>(p.size / 4 + 1), p.size / 4 + 1};
    for (u64 k = p.off / 4; s.tick && k <= (p.off + bytes - 1) / 4 && k < s.granules; k++) s.tick[k] = o.tick + 1;
}

enum Access { LOADS, STORES, BOTH };

// Counts an access that is about to be made; `ids` are the iterations of the loops around it, innermost first.
template <u32 N> INLINE const Ptr &observed(Observed *o, u32 number, const Ptr &p, u64 bytes, Access kind, const u64 (&ids)[N]) {
    if (!is_buffer[p.memory] || p.off >= p.size) return p;
    AccessRuns &a = o->accesses[number];
    a.count++;
    if (UNLIKELY(a.memory != p.memory)) {
        a.other_objects += a.memory != 0;
        a.memory = p.memory;
    }
    see_stride(a, p, ids);
    const u64 first = p.off / WORD_BYTES, last = (p.off + bytes - 1) / WORD_BYTES;
    a.crossing += first != last;
    for (u64 line = first; line <= last; line++) see_word(a, p, line);
    const Stores &s = o->stores[p.memory];
    if (kind != STORES) {
        const bool met = s.tick && p.off / 4 < s.granules && s.tick[p.off / 4];
        const i64 apart = met ? (i64)(o->tick + 1 - s.tick[p.off / 4]) : 0;
        if (met) count_value(a.conflicts, apart);
        a.steady += met && apart == a.apart;
        a.apart = apart;
    }
    if (kind != LOADS) see_store(*o, p, bytes);
    return p;
}

INLINE u64 next_iteration(Observed *o, u32 loop) {
    o->tick++;
    return ++o->loops[loop].iterations;
}

INLINE void leave_loop(Observed *o, u32 loop, u64 trips) { count_value(o->loops[loop].trips, (i64)trips); }

INLINE bool decided(Observed *o, u32 branch, bool holds) {
    o->branches[branch].reached++;
    o->branches[branch].held += holds;
    return holds;
}

INLINE void called(Observed *o, u32 channel, bool done) {
    o->channels[channel].calls++;
    o->channels[channel].done += done;
}

// ---- what the host reads: each launch as one row of numbers

struct Row {
    u64 *out, room, length;
    void put(u64 number) {
        if (length < room) out[length] = number;
        length++;
    }
    void put(const Counts &c) {
        u32 ranges = 0;
        for (u32 k = 0; k < 64; k++) ranges += (c.above[k] != 0) + (c.below[k] != 0);
        put(c.used);
        for (u32 k = 0; k < c.used; k++) {
            put((u64)c.value[k]);
            put(c.count[k]);
        }
        put(ranges);
        for (u32 k = 0; k < 64; k++)
            for (u32 sign = 0; sign < 2; sign++)
                if (u64 n = (sign ? c.below : c.above)[k]) {
                    put(sign);
                    put(k);
                    put(n);
                }
    }
};

// Writes what the finished launch `number` did, up to `room` numbers; returns how many there are, 0 if it is not known.
extern "C" u64 sluice_observed(u64 number, u64 *out, u64 room) {
    Observed *o = finished_observations;
    while (o && o->number != number) o = o->next;
    if (!o) return 0;
    Row row{out, room, 0};
    for (u32 k = 0; k < observed_loops; k++) {
        row.put(o->loops[k].iterations);
        row.put(o->loops[k].trips);
    }
    for (u32 k = 0; k < observed_branches; k++) {
        row.put(o->branches[k].reached);
        row.put(o->branches[k].held);
    }
    for (u32 k = 0; k < observed_accesses; k++) {
        const AccessRuns &a = o->accesses[k];
        for (u64 n : {a.count, a.memory, a.other_objects, a.words, a.rows, a.same_word, a.cold, a.misses, a.crossing}) row.put(n);
        for (u64 n : a.reuse) row.put(n);
        for (const Counts &c : a.stride) row.put(c);
        row.put(a.conflicts);
        row.put(a.steady);
    }
    for (u32 k = 0; k < observed_channels; k++) {
        row.put(o->channels[k].calls);
        row.put(o->channels[k].done);
    }
    return row.length;
}

extern "C" void sluice_forget_observed(u64 number) {
    for (Observed **place = &finished_observations; *place; place = &(*place)->next)
        if ((*place)->number == number) {
            Observed *o = *place;
            *place = o->next;
            forget_observed(o);
            return;
        }
}
