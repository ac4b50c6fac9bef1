
// ---- what the host calls: launches run in rounds, until none can go on

#ifdef OBSERVED
// What a launch that has not ended has done so far, or one that may run again; none if there is no such launch.
static Observed *running_observation(u64 number) {
    for (Launched *first : {first_launched, first_ended})
        for (Launched *r = first; r; r = r->next)
            if (r->number == number) return r->observed;
    return 0;
}

static void keep_observed(Launched *r) {
    r->observed->next = finished_observations;
    finished_observations = r->observed;
    r->observed = 0;
}
#endif

static void note_waits() {
    control->wait_count = 0;
    for (Launched *r = first_launched; r; r = r->next)
        for (u64 k = 0; k < r->active_count && control->wait_count < control->max_waits; k++) {
            Fiber *fiber = r->active[k];
            control->waits[control->wait_count++] = Wait{r->number, fiber->site, (u64)(fiber->queue - queues), fiber->writes};
        }
}

// Adds a launch; returns its number.
extern "C" u64 sluice_start(const Launch *launch) {
    Launched *launched = (Launched *)calloc(1, sizeof(Launched));
    launched->launch = *launch;
    launched->number = launch_count++;
#ifdef OBSERVED
    launched->observed = begin_observing(launched->number);
#endif
    Launched **last = &first_launched;
    while (*last) last = &(*last)->next;
    *last = launched;
    return launched->number;
}

// A launch that has ended is released, unless it may run again.
static void end_launch(Launched *r) {
    if (marked) {
        r->next = first_ended;
        first_ended = r;
        return;
    }
#ifdef OBSERVED
    keep_observed(r);
#endif
    release(r);
}

static void run_rounds() {
    u64 idle = 0;
    while (first_launched) {
        u64 before = moves;
        bool ended = false, polled = false;
        for (Launched **place = &first_launched; *place;) {
            Launched *r = *place;
            State state = r->launch.after && !*r->launch.after ? BLOCKED : step(*r);
            ended |= state == ENDED;
            polled |= state == POLLING;
            if (state == ENDED) {
                *r->launch.ended = 1;
                *place = r->next;
                end_launch(r);
            } else {
                place = &r->next;
            }
        }
        idle = ended || moves != before ? 0 : polled ? idle + 1 : control->patience;
        if (idle >= control->patience) {
            control->ending = WAITING;
            note_waits();
            return;
        }
    }
}

// Runs all launches until they have ended or wait for what only another launch could give.
extern "C" void sluice_advance(Control *shared) {
    control = shared;
    control->ending = FINISHED;
    control->log_bytes = log_capacity = 0;
    control->log = 0;
    if (_setjmp(leave) == 0) run_rounds();
}

extern "C" void sluice_free_log(Control *shared) { free(shared->log); }

// Lets a queue hold `room` values; whether that is more than before.
extern "C" u64 sluice_deepen(u64 queue, u64 room) {
    if (!queues[queue].room || room <= queues[queue].room) return 0;
    queues[queue].room = room;
    return 1;
}

// Forgets all launches, and with `contents` what is in the channels.
extern "C" void sluice_reset(u64 queue_count, u64 contents) {
#ifdef TRACE_BYTES
    forget_mark();
#endif
    for (Launched **first : {&first_launched, &first_ended})
        while (Launched *r = *first) {
            *first = r->next;
            release(r);
        }
    forget_promises();
    for (u64 k = 0; contents && k < queue_count; k++) queues[k].first = queues[k].count = 0;
}

// What the host does as the board's side of a stream: values of `size` bytes go in, and all that are there come out.
extern "C" void sluice_feed(u64 queue, const u8 *data, u64 count, u64 size) {
    Queue &q = queues[queue];
    q.size = size;
    for (u64 k = 0; k < count; k++) {
        if (q.count == q.capacity) grow(q, size);
        memcpy(q.data + (q.first + q.count++) % q.capacity * size, data + k * size, size);
    }
}

extern "C" u64 sluice_held(u64 queue) { return queues[queue].count; }

extern "C" void sluice_drain(u64 queue, u8 *data, u64 size) {
    Queue &q = queues[queue];
    for (u64 k = 0; k < q.count; k++) memcpy(data + k * size, q.data + (q.first + k) % q.capacity * size, size);
    q.first = q.count = 0;
}
