
// ---- the work-items of a group where these are iterations of a loop (hls/emulate/group_loop.py): each has a stack of its own,
// and runs until it ends or meets the others; then the next one's turn comes. None runs before all of its group are there.

struct Member {
    Fiber fiber;
    void (*body)(void *start, Item &item);
    void *start;  // what the body needs, at the end of its stack
#ifdef TRACE_BYTES
    u64 *rows;  // that it writes (see keep_rows)
#endif
};

struct Group {
    Member *members;
    u8 *stacks;
    u64 *rows;
    u64 room, count, stack;
};

static void leave_group(Group *group) {
    if (!group) return;
    give_back(group->stacks, group->room * group->stack);
    free(group->members);
    free(group->rows);
    free(group);
}

static __attribute__((noinline)) Group *make_group(Launched &r, u64 room) {
    Group *group = (Group *)calloc(1, sizeof(Group));
    r.work_group = group;
    group->room = room;
    group->stack = kernels[r.launch.kernel].stack;
    group->members = (Member *)calloc(room, sizeof(Member));
#ifdef TRACE_BYTES
    group->rows = (u64 *)calloc(room * trace_loops, sizeof(u64));
    for (u64 k = 0; k < room; k++) group->members[k].rows = group->rows + k * trace_loops;
#endif
    group->stacks = (u8 *)room_for(room * group->stack);
    return group;
}

// One more work-item of the group, which is the next call of `body`; at most `room` belong to it.
template <class Body> INLINE void join_group(Item &item, u64 room, u32 site, const Body &body) {
    Launched &r = *item.launched;
    Group *group = r.work_group ? r.work_group : make_group(r, room);
    if (UNLIKELY(group->count == group->room)) {
        control->bytes = (group->room + 1) * group->stack;
        end_run(NO_MEMORY, site);
    }
    const u64 number = group->count++;
    Member &member = group->members[number];
    member.fiber.item = item;
    member.fiber.begun = false;
    member.fiber.state = READY;
    member.start = group->stacks + (number + 1) * group->stack - aligned(sizeof(Body));
    memcpy(member.start, (const void *)&body, sizeof(Body));
    member.body = [](void *start, Item &own) { (*(const Body *)start)(own); };
}

static void enter_member() {
    Member *member = (Member *)current;
    member->body(member->start, member->fiber.item);
    current->state = ENDED;
    _longjmp(scheduler, 1);
}

// Lets a work-item run until it ends or meets the others; where it waits for a channel, the whole launch does.
static void continue_member(Group &group, u64 number, Fiber *outer) {
    Member &member = group.members[number];
    u8 *stack = group.stacks + number * group.stack;
    for (;;) {
        jmp_buf before;
        memcpy(before, scheduler, sizeof before);
        resume(&member.fiber, enter_member, stack, (u64)((u8 *)member.start - stack) & ~(u64)15);
        memcpy(scheduler, before, sizeof before);
        current = outer;
        if (member.fiber.state == ENDED || member.fiber.state == AT_BARRIER) return;
        outer->queue = member.fiber.queue;
        outer->writes = member.fiber.writes;
        suspend(member.fiber.state, member.fiber.site);
    }
}

// All of the group are there: they run to their ends.
static __attribute__((noinline)) void run_group(Item &item) {
    Group &group = *item.launched->work_group;
    Fiber *outer = current;
    for (bool first = true, waits = true; waits; first = false) {
        waits = false;
        for (u64 k = 0; k < group.count; k++) {
            Member &member = group.members[k];
            if (member.fiber.state == ENDED) continue;
#ifdef TRACE_BYTES
            if (first) begin_rows(item.launched->observed);
            else continue_rows(item.launched->observed, member.rows);
#endif
            continue_member(group, k, outer);
#ifdef TRACE_BYTES
            keep_rows(item.launched->observed, member.rows);
#endif
            waits = waits || member.fiber.state != ENDED;
        }
    }
#ifdef TRACE_BYTES
    continue_rows(item.launched->observed, group.members[group.count - 1].rows);
#endif
    group.count = 0;
}
