"""Run coroutines in a test although the browser's driver has an event loop in the main thread."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Result = TypeVar("Result")


def run(steps: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine on an event loop of its own, and return its result."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, steps).result()
