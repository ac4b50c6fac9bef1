"""The texts that an editor has open, and their answers, each as new as the text allows."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from .analysis import Answer, Request, front_end
from .worker import Planner

__all__ = ["Session"]

#: seconds without a change before the front end reads a text, and before it is planned
TYPING, PAUSE = 0.03, 0.3


@dataclass
class _Open:
    """One text: its last answer with a plan, and the task that looks at its last change."""

    answer: Answer = field(default_factory=Answer)
    task: asyncio.Task[None] | None = None


class Session:
    """Looks at each text after its last change: :meth:`changed` lets the front end read it, then plans it, and tells
    ``show`` (of the key and the answer) after either. An answer about an older text is never shown. All methods are
    called in the event loop."""

    def __init__(self, show: Callable[[str, Answer], None]) -> None:
        self.show = show
        self.planner = Planner()
        self._texts: dict[str, _Open] = {}
        self._planning: asyncio.Lock | None = None
        self._planned: str = ""  #: the key of what is being planned; "" for none
        self._reader = ThreadPoolExecutor(1, "front-end")
        self._waiter = ThreadPoolExecutor(1, "planner")

    def answer(self, key: str) -> Answer:
        """What is known of a text: without hints from its change to its next plan."""
        return self._texts[key].answer if key in self._texts else Answer()

    def changed(self, key: str, request: Callable[[], Request]) -> None:
        """The text ``key`` is another one now; ``request`` gives it when it is looked at."""
        one = self._texts.setdefault(key, _Open())
        self._stop(key, one)
        one.answer = Answer(one.answer.messages)
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
        self._reader.shutdown(wait=False, cancel_futures=True)
        self._waiter.shutdown(wait=False, cancel_futures=True)

    def _stop(self, key: str, one: _Open) -> None:
        if one.task is not None:
            one.task.cancel()
        if self._planned == key:
            self.planner.abandon()

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
        if planned is not None:
            one.answer = planned
            self.show(key, planned)

    async def _plan(self, key: str, asked: Request) -> Answer | None:
        self._planned = key
        try:
            return await asyncio.get_running_loop().run_in_executor(self._waiter, self.planner.plan, asked)
        finally:
            self._planned = ""
