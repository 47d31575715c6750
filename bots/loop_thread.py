"""An event loop beside the main thread, which may then wait for a person."""

import asyncio
import signal
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class LoopThread:
    """An event loop in a thread of its own, so that the main thread may wait for a person at the prompt.

    The socket goes on being served meanwhile, and Ctrl-C reaches whoever waits in the main thread.
    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="citebot-loop", daemon=True)

    def _serve(self) -> None:
        # Ctrl-C is for the main thread alone, and so it is for every thread begun from here.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        self._loop.run_forever()

    def __enter__(self) -> "LoopThread":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.run(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Return what the coroutine returns; Ctrl-C cancels it, waits until it has cleaned up, and is raised."""
        future: Future[T] = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            self._cancel(future)
            raise

    def _cancel(self, future: "Future[T]") -> None:
        ended = threading.Event()

        async def wait_for_others() -> None:
            # The cancelled task needs some turns of the loop to restore the terminal.
            others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            await asyncio.wait(others, timeout=2) if others else None
            ended.set()

        future.cancel()
        asyncio.run_coroutine_threadsafe(wait_for_others(), self._loop)
        ended.wait(3)

    async def _end(self) -> None:
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._loop.shutdown_asyncgens()
        await self._loop.shutdown_default_executor()
