"""Asynchronous steps in a test, beside a browser whose driver has an event loop in the main thread."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Result = TypeVar("Result")


def run(steps: Coroutine[Any, Any, Result]) -> Result:
    """Run them to their end on an event loop of their own, and return what they return."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, steps).result()
