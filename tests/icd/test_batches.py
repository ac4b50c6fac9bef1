"""Short launches are sent together: results, order and failures are as if each were sent alone."""

from tests.icd.conftest import HERE

HOST = """
import os, sys
context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
program = cl.Program(context, '''
__kernel void add(__global int *a, int n, int at) { a[at] = a[at] * 3 + n; }
__kernel void say(int n) { printf("kernel %d\\\\n", n); }
''').build()
add, say = cl.Kernel(program, "add"), cl.Kernel(program, "say")
cells = np.zeros(4, np.int32)
buffer = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=cells)

def wanted(numbers, value=0):
    for n in numbers:
        value = (value * 3 + n) & 0xFFFFFFFF
    return value

def found():
    cl.enqueue_copy(queue, cells, buffer)
    return int(cells[0]) & 0xFFFFFFFF

# more than one message holds, with commands between them that read what the launches before them wrote
seen, snapshot = [], np.zeros(4, np.int32)
for n in range(150):
    event = add(queue, (1,), None, buffer, np.int32(n), np.int32(0))
    if n % 70 == 50:
        read = cl.enqueue_copy(queue, snapshot, buffer, is_blocking=False)
        read.wait()
        seen.append((n, int(snapshot[0]) & 0xFFFFFFFF))
assert seen == [(n, wanted(range(n + 1))) for n in (50, 120)], seen
event.wait()
assert event.profile.start < event.profile.end
assert found() == wanted(range(150))

# an event that the host asks about, without waiting
event = add(queue, (1,), None, buffer, np.int32(1), np.int32(1))
assert event.command_execution_status == cl.command_execution_status.COMPLETE

# a callback, and a wait list of another queue
add(queue, (1,), None, buffer, np.int32(7), np.int32(2))
other = cl.CommandQueue(context)
first = add(queue, (1,), None, buffer, np.int32(5), np.int32(2))
add(other, (1,), None, buffer, np.int32(2), np.int32(2), wait_for=[first])
other.finish()
cl.enqueue_copy(queue, cells, buffer)
assert cells[2] == (7 * 3 + 5) * 3 + 2, cells

# one launch in the middle fails: it alone does, and the queue says so once
before = found()
events = [add(queue, (1,), None, buffer, np.int32(n), np.int32(1000000 if n == 2 else 0)) for n in range(5)]
try:
    queue.finish()
    raise SystemExit("no failure")
except cl.Error:
    pass
states = [event.get_info(cl.event_info.COMMAND_EXECUTION_STATUS) for event in events]
assert [state < 0 for state in states] == [n == 2 for n in range(5)], states
assert found() == wanted([0, 1, 3, 4], before)

# a child of the host neither sends these launches nor waits for them
for n in range(3):
    add(queue, (1,), None, buffer, np.int32(n), np.int32(3))
child = os.fork()
if child == 0:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
for n in range(3):
    add(queue, (1,), None, buffer, np.int32(n), np.int32(3))
queue.finish()
cl.enqueue_copy(queue, cells, buffer)
assert cells[3] == wanted([0, 1, 2, 0, 1, 2]), cells

# what kernels print comes between what the host prints
for n in range(3):
    say(queue, (1,), None, np.int32(n))
    print("host", n, flush=True)
# the host ends, and nobody waited
add(queue, (1,), None, buffer, np.int32(0), np.int32(1000000))
add(queue, (1,), None, buffer, np.int32(0), np.int32(1000000))
"""


def test_short_launches_end_as_if_they_were_sent_alone(driver):
    done = driver.python(HOST)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "".join(f"kernel {n}\nhost {n}\n" for n in range(3))
    assert done.stderr.count("error[E1001]") == 4  # one for clFinish, too


def test_short_launches_share_messages(driver):
    """Each message wakes the server, and its answer the host."""
    done = driver.run(driver.build(HERE / "batches.c", "-rdynamic"))
    assert done.returncode == 0, done.stdout + done.stderr
    launches, messages = map(int, done.stdout.split())
    assert messages * 8 < launches, done.stdout
