"""The texts that an editor has open, and their answers, each as new as the text allows."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

from .analysis import Answer, Request, front_end
from .fixes import Fix
from .worker import Planner

Found = TypeVar("Found")

__all__ = ["Session"]

#: seconds without a change before the front end reads a text, and before it is planned
TYPING, PAUSE = 0.03, 0.3


@dataclass
class _Open:
    """One text: its last answer with a plan, the changes that were found to help, and the task that looks at its last
    change."""

    answer: Answer = field(default_factory=Answer)
    fixes: tuple[Fix, ...] = ()
    task: asyncio.Task[None] | None = None


class Session:
    """Looks at each text after its last change: :meth:`changed` lets the front end read it, then plans it, and tells
    ``show`` (of the key and the answer) after either. An answer about an older text is never shown. With ``advising``,
    it then tries changes of the text in a process of their own. All methods are called in the event loop."""

    def __init__(self, show: Callable[[str, Answer], None]) -> None:
        self.show = show
        self.planner = Planner()
        self._texts: dict[str, _Open] = {}
        self._planning: asyncio.Lock | None = None
        self._planned: str = ""  #: the key of what is being planned; "" for none
        self.advising = False
        self.adviser = Planner()
        self._advising: asyncio.Lock | None = None
        self._advised: str = ""  #: the key of the text whose changes are being tried; "" for none
        self._reader = ThreadPoolExecutor(1, "front-end")
        self._waiter = ThreadPoolExecutor(1, "planner")
        self._trying = ThreadPoolExecutor(1, "adviser")

    def answer(self, key: str) -> Answer:
        """What is known of a text: without hints from its change to its next plan."""
        return self._texts[key].answer if key in self._texts else Answer()

    def fixes(self, key: str) -> tuple[Fix, ...]:
        """The changes of a text that are known to help; none from its change until they were tried."""
        return self._texts[key].fixes if key in self._texts else ()

    async def read(self, work: Callable[..., Found], *given: object) -> Found:
        """The result of ``work`` in the thread of the front end, while requests are answered."""
        return await asyncio.get_running_loop().run_in_executor(self._reader, work, *given)

    def changed(self, key: str, request: Callable[[], Request]) -> None:
        """The text ``key`` is another one now; ``request`` gives it when it is looked at."""
        one = self._texts.setdefault(key, _Open())
        self._stop(key, one)
        one.answer, one.fixes = Answer(one.answer.messages), ()
        one.task = asyncio.get_running_loop().create_task(self._look(key, one, request))

    def closed(self, key: str) -> None:
        """The text ``key`` is not open any more."""
        if one := self._texts.pop(key, None):
            self._stop(key, one)

    def end(self) -> None:
        """End the processes and threads."""
        for key in list(self._texts):
            self.closed(key)
        self.planner.abandon()
        self.adviser.abandon()
        self._trying.shutdown(wait=False, cancel_futures=True)
        self._reader.shutdown(wait=False, cancel_futures=True)
        self._waiter.shutdown(wait=False, cancel_futures=True)

    def _stop(self, key: str, one: _Open) -> None:
        if one.task is not None:
            one.task.cancel()
        if self._planned == key:
            self.planner.abandon()
        if self._advised == key:
            self.adviser.abandon()

    async def _look(self, key: str, one: _Open, request: Callable[[], Request]) -> None:
        loop = asyncio.get_running_loop()
        await asyncio.sleep(TYPING)
        asked = request()
        read = await loop.run_in_executor(self._reader, front_end, asked)
        one.answer = read
        self.show(key, read)
        if asked.header or any(message.severity == "error" for message in read.messages):
            return
        await asyncio.sleep(PAUSE)
        if self._planning is None:
            self._planning = asyncio.Lock()
        async with self._planning:
            planned = await self._plan(key, asked)
        if planned is None:
            return
        one.answer = planned
        self.show(key, planned)
        if self.advising and planned.planned:
            await self._advise(key, one, asked)

    async def _advise(self, key: str, one: _Open, asked: Request) -> None:
        """Try the changes that are advised for a text, one after the other."""
        await asyncio.sleep(PAUSE)
        if self._advising is None:
            self._advising = asyncio.Lock()
        async with self._advising:
            for fix in await self._try(key, self.adviser.advise, asked):
                found = await self._try(key, self.adviser.attempt, asked, fix)
                one.fixes += (found,) if found is not None else ()

    async def _try(self, key: str, work: Callable[..., Found], *given: object) -> Found:
        self._advised = key
        try:
            return await asyncio.get_running_loop().run_in_executor(self._trying, work, *given)
        finally:
            self._advised = ""

    async def _plan(self, key: str, asked: Request) -> Answer | None:
        self._planned = key
        try:
            return await asyncio.get_running_loop().run_in_executor(self._waiter, self.planner.plan, asked)
        finally:
            self._planned = ""
