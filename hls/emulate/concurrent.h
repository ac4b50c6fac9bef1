
// ---- what goes on at the same time: work-items of a group, and kernels joined by channels (hls/ir/concurrent.py).
// A work-item that can wait has a stack of its own; it runs until it ends or waits, and then the next one's turn comes.

// A queue of values of one size. It holds `room` of them, or any number where that is 0.
struct Queue {
    u8 *data;
    u64 room, capacity, first, count, size;
};

struct Channel {
    u64 first, length;  // its queues
};

struct Launched;
struct Group;  // work-items that are iterations of a loop (groups.h)

// Where a work-item stands in its launch. `shared` are the local memories of its group, `seen` their flags.
struct Item {
    const Launch *launch;
    Launched *launched;
    u8 *shared, *seen;
    u64 global_id[3], local_id[3], group_id[3];
    Promise *promises = 0;  // of the loops that it is in
#ifdef OBSERVED
    u64 turn = 0;  // its number among the work-items of the launch, from 1 on
#endif
    u64 decided = 0;        // how often since its group met (see decide)
};

// A kernel as the host starts it. `stack` is what one work-item may need, `waits` says whether it can wait for others.
struct Kernel {
    void (*all)(Launched &);
    void (*item)(Item &);
    u64 stack, waits, site, local_arguments;
};
extern const Kernel kernels[];
extern const u64 static_local_bytes;  // of all local memories whose size the text knows
extern Queue queues[];

enum State { READY, ENDED, AT_BARRIER, POLLING, BLOCKED };

struct Fiber {
    Item item;
    State state;
    bool begun;
    u32 site;
    const Queue *queue;
    bool writes;
    u8 *low;  // the end of its stack while it waits
    jmp_buf at;
};

// What the first work-item to come there decided on the way to a barrier, and which it was.
struct Decision {
    bool holds;
    u64 local_id[3];
};

// A launch on its way.
struct Launched {
    Launch launch;
    u64 number;
    Launched *next;
    u8 *shared, *seen, *stacks;
    u64 shared_bytes, stacks_bytes, group, count;
    Fiber *fibers, **active, **arrived;
    u64 active_count, arrived_count;
    bool open;  // a group has begun
    Decision *decisions;  // of the group since it met
    u64 decision_count, decision_room;
    Group *work_group;
#ifdef OBSERVED
    Observed *observed;
#endif
};

// Bytes below the frame of a function that may hold what it has saved.
#define STACK_BELOW 1024

static Launched *first_launched;
static Launched *first_ended;  // launches that have ended since the mark (rewind.h)
static bool marked;
static u64 launch_count, moves;
static Fiber *current;
static jmp_buf scheduler;

// One iteration of a loop; `left` counts down from the limit.
INLINE void iterate(u64 &left, u32 site) {
    if (UNLIKELY(left-- == 0)) end_run(LOOP_LIMIT, site);
    if (UNLIKELY(control->stop)) end_run(STOPPED, site);
}

static __attribute__((noinline)) void suspend(State state, u32 site) {
    if (UNLIKELY(control->stop)) end_run(STOPPED, site);
    current->state = state;
    current->site = site;
    current->low = (u8 *)__builtin_frame_address(0) - STACK_BELOW;
    if (_setjmp(current->at) == 0) _longjmp(scheduler, 1);
}

static void enter_item() {
    kernels[current->item.launch->kernel].item(current->item);
    current->state = ENDED;
    _longjmp(scheduler, 1);
}

static void enter_all() {
    Launched *launched = current->item.launched;
    kernels[launched->launch.kernel].all(*launched);
    current->state = ENDED;
    _longjmp(scheduler, 1);
}

static void enter(void (*function)(), u8 *stack, u64 size) {
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = stack;
    context.uc_stack.ss_size = size;
    context.uc_link = 0;
    makecontext(&context, function, 0);
    setcontext(&context);
}

// Lets a work-item run until it ends or waits.
static __attribute__((noinline)) void resume(Fiber *fiber, void (*function)(), u8 *stack, u64 size) {
    current = fiber;
    if (_setjmp(scheduler) != 0) return;
    if (fiber->begun) _longjmp(fiber->at, 1);
    fiber->begun = true;
    enter(function, stack, size);
}

// ---- memory of launches

static void *room_for(u64 bytes) {
    if (bytes == 0) return 0;
    void *place = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place != MAP_FAILED) return place;
    control->bytes = bytes;
    end_run(NO_MEMORY, 0);
}

static void give_back(void *place, u64 bytes) {
    if (place) munmap(place, bytes);
}

INLINE u64 items_of(const Launch &l) { return l.local_size[0] * l.local_size[1] * l.local_size[2]; }
INLINE u64 groups_of(const Launch &l) { return l.num_groups[0] * l.num_groups[1] * l.num_groups[2]; }
INLINE u64 aligned(u64 bytes) { return (bytes + 15) & ~(u64)15; }

// Where the local memory argument k begins.
static u64 local_offset(const Launch &launch, u64 k) {
    u64 offset = aligned(static_local_bytes);
    while (k--) offset += aligned(launch.local_sizes[k]);
    return offset;
}
INLINE Ptr local_argument(const Item &item, u64 k, u32 memory) {
    u64 offset = local_offset(*item.launch, k);
    return Ptr{item.shared + offset, item.seen + offset, item.launch->local_sizes[k], 0, memory};
}

static void leave_group(Group *group);

static void release(Launched *launched) {
#ifdef OBSERVED
    if (launched->observed) forget_observed(launched->observed);
#endif
    give_back(launched->shared, 2 * launched->shared_bytes);
    give_back(launched->stacks, launched->stacks_bytes);
    free(launched->fibers);
    free(launched->active);
    free(launched->arrived);
    free(launched->decisions);
    leave_group(launched->work_group);
    free(launched);
}

static void prepare(Launched *r) {
    const Kernel &kernel = kernels[r->launch.kernel];
    r->count = kernel.waits ? items_of(r->launch) : 1;
    r->shared_bytes = local_offset(r->launch, kernel.local_arguments);
    r->stacks_bytes = r->count * kernel.stack;
    r->shared = (u8 *)room_for(2 * r->shared_bytes);
    r->seen = r->shared + r->shared_bytes;
    r->stacks = (u8 *)room_for(r->stacks_bytes);
    r->fibers = (Fiber *)calloc(r->count, sizeof(Fiber));
    r->active = (Fiber **)calloc(r->count, sizeof(Fiber *));
    r->arrived = (Fiber **)calloc(r->count, sizeof(Fiber *));
    r->open = true;
}

// ---- work-items

static void begin_group(Item &item, Launched &r, u64 group) {
    const u64 *groups = r.launch.num_groups;
    item.launch = &r.launch;
    item.launched = &r;
    item.shared = r.shared;
    item.seen = r.seen;
    item.group_id[0] = group % groups[0];
    item.group_id[1] = group / groups[0] % groups[1];
    item.group_id[2] = group / groups[0] / groups[1];
}

static void place_item(Item &item, const Launch &l, u64 number) {
    item.local_id[0] = number % l.local_size[0];
    item.local_id[1] = number / l.local_size[0] % l.local_size[1];
    item.local_id[2] = number / l.local_size[0] / l.local_size[1];
    for (int d = 0; d < 3; d++)
        item.global_id[d] = item.group_id[d] * l.local_size[d] + item.local_id[d] + l.global_offset[d];
}

// Calls body(item) for every work-item, none of which waits: group by group, x fastest.
template <class Body> INLINE void for_each_item(Launched &r, u32 site, Body body) {
    const Launch &l = r.launch;
    u64 groups = groups_of(l);
    Item item;
    for (u64 group = 0; group < groups; group++) {
        begin_group(item, r, group);
        if (r.shared_bytes) memset(r.shared, 0, 2 * r.shared_bytes);
        u64 *local = item.local_id;
        for (local[2] = 0; local[2] < l.local_size[2]; local[2]++)
        for (local[1] = 0; local[1] < l.local_size[1]; local[1]++)
        for (local[0] = 0; local[0] < l.local_size[0]; local[0]++) {
            for (int d = 0; d < 3; d++) item.global_id[d] = item.group_id[d] * l.local_size[d] + local[d] + l.global_offset[d];
            if (UNLIKELY(control->stop)) end_run(STOPPED, site);
#ifdef OBSERVED
            item.turn++;
            r.observed->tick++;
#endif
            body(item);
        }
    }
}

// ---- what the work-items of a group decide on their way to a barrier: all of them the same (hls/ir/barriers.py)

[[noreturn]] COLD void parted(const Item &item, const Decision &before, u32 condition, u32 barrier) {
    control->condition_site = condition;
    for (int d = 0; d < 3; d++) {
        control->group[d] = item.group_id[d];
        control->first[d] = before.local_id[d];
        control->other[d] = item.local_id[d];
    }
    end_run(PARTED, barrier);
}

COLD void more_decisions(Launched &r) {
    r.decision_room = r.decision_room ? 2 * r.decision_room : 64;
    r.decisions = (Decision *)realloc(r.decisions, r.decision_room * sizeof(Decision));
}

// A work-item decides, by the condition at one place, whether it comes to the barrier at another.
INLINE void decide(Item &item, bool holds, u32 condition, u32 barrier) {
    Launched &r = *item.launched;
    u64 number = item.decided++;
    if (number < r.decision_count) {
        if (UNLIKELY(r.decisions[number].holds != holds)) parted(item, r.decisions[number], condition, barrier);
        return;
    }
    if (r.decision_count == r.decision_room) more_decisions(r);
    const u64 *id = item.local_id;
    r.decisions[r.decision_count++] = Decision{holds, {id[0], id[1], id[2]}};
}

static void forget_decisions(Launched &r) {
    r.decision_count = 0;
    for (u64 k = 0; k < r.count; k++) r.fibers[k].item.decided = 0;
}

static void open_group(Launched &r) {
    if (r.shared_bytes) memset(r.shared, 0, 2 * r.shared_bytes);
    for (u64 k = 0; k < r.count; k++) {
        Fiber &fiber = r.fibers[k];
        begin_group(fiber.item, r, r.group);
        place_item(fiber.item, r.launch, k);
#ifdef OBSERVED
        fiber.item.turn = r.group * r.count + k + 1;
        r.observed->tick++;
#endif
        fiber.begun = false;
        r.active[k] = &fiber;
    }
    r.active_count = r.count;
    r.arrived_count = 0;
    r.group++;
    forget_decisions(r);
}

// Where all of the group has arrived, it goes on.
static void pass_barrier(Launched &r) {
    if (r.active_count || !r.arrived_count) return;
    forget_decisions(r);
    Fiber **swapped = r.active;
    r.active = r.arrived;
    r.arrived = swapped;
    r.active_count = r.arrived_count;
    r.arrived_count = 0;
}

// Runs a launch until it ends (ENDED), all of it waits (BLOCKED), or it wants others to have a turn (POLLING).
static State step(Launched &r) {
    const Kernel &kernel = kernels[r.launch.kernel];
    running = r.number;
    if (!r.open) prepare(&r);
    if (!kernel.waits) {
        r.fibers[0].item.launched = &r;
        resume(r.fibers, enter_all, r.stacks, r.stacks_bytes);
        return ENDED;
    }
    for (;;) {
        if (!r.active_count) {
            if (r.group == groups_of(r.launch)) return ENDED;
            open_group(r);
        }
        bool moved = false, polled = false;
        u64 still = 0, before = r.active_count;
        for (u64 k = 0; k < before; k++) {
            Fiber *fiber = r.active[k];
            resume(fiber, enter_item, r.stacks + (fiber - r.fibers) * kernel.stack, kernel.stack);
            moved |= fiber->state != BLOCKED;
            polled |= fiber->state == POLLING;
            if (fiber->state == AT_BARRIER) r.arrived[r.arrived_count++] = fiber;
            else if (fiber->state != ENDED) r.active[still++] = fiber;
        }
        r.active_count = still;
        pass_barrier(r);
        if (polled || !moved) return moved ? POLLING : BLOCKED;
    }
}

// ---- channels

INLINE Queue &queue_of(Channel channel, u64 index, u32 site) {
    if (UNLIKELY(index >= channel.length)) {
        control->offset = (i64)index;
        control->size = channel.length;
        end_run(NO_CHANNEL, site);
    }
    return queues[channel.first + index];
}

INLINE bool is_full(const Queue &q) { return q.room && q.count >= q.room; }

static void wait_for(const Queue &q, bool writes, u32 site, State state = BLOCKED) {
    current->queue = &q;
    current->writes = writes;
    suspend(state, site);
}

static void grow(Queue &q, u64 size) {
    u64 capacity = q.capacity ? 2 * q.capacity : 16;
    u8 *data = (u8 *)malloc(capacity * size);
    for (u64 k = 0; k < q.count; k++) memcpy(data + k * size, q.data + (q.first + k) % q.capacity * size, size);
    free(q.data);
    q.data = data;
    q.capacity = capacity;
    q.first = 0;
}

template <class T> INLINE void put(Queue &q, T value) {
    if (UNLIKELY(q.count == q.capacity)) grow(q, sizeof(T));
    u64 place = q.first + q.count++;
    q.size = sizeof(T);
    memcpy(q.data + (place >= q.capacity ? place - q.capacity : place) * sizeof(T), &value, sizeof(T));
    moves++;
}

template <class T> INLINE T take(Queue &q) {
    T value;
    memcpy(&value, q.data + q.first * sizeof(T), sizeof(T));
    if (++q.first == q.capacity) q.first = 0;
    q.count--;
    moves++;
    return value;
}

// ---- printf: the number of the format, then a word for each argument; the host makes text of it

static u64 log_capacity;

static void print(u64 format, const u64 *words, u64 count) {
    u64 bytes = 8 * (count + 1);
    if (control->log_bytes + bytes > log_capacity) {
        log_capacity = 2 * (control->log_bytes + bytes);
        control->log = (u8 *)realloc(control->log, log_capacity);
    }
    memcpy(control->log + control->log_bytes, &format, 8);
    memcpy(control->log + control->log_bytes + 8, words, 8 * count);
    control->log_bytes += bytes;
}
