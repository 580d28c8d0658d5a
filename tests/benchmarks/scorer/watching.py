"""Observers of a hall's page: a reader of its stream, and a real browser. Both note when each play appears."""

import re
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import httpx
from playwright.sync_api import Page

from tests.chromium import chromium

PLAY: Final = re.compile(r'data-key="play-(\d+)-\d+-(\d+)"')
LONGEST_S: Final = 3600.0

NOTE: Final = """
window.seen = {};
new MutationObserver(() => {
  for (const play of document.querySelectorAll("li.play")) window.seen[play.dataset.key] ??= Date.now();
}).observe(document, { childList: true, subtree: true });
"""

Seen = dict[tuple[int, int], float]
"""When each play first appeared (ms since 1970), by table and round."""


class Reader:
    """Reads the page's stream on its own thread, as often as a page does."""

    def __init__(self, url: str, trust: ssl.SSLContext | None) -> None:
        self.seen: Seen = {}
        self.bytes = 0
        self._url, self._trust, self._stop = url, trust or True, threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> "Reader":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(LONGEST_S)

    def _read(self) -> None:
        body = ""
        with httpx.stream("GET", f"{self._url}events?show=page", timeout=LONGEST_S, verify=self._trust) as answer:
            for text in answer.iter_text():
                body += text
                *events, body = body.split("\n\n") if "\n\n" in text or body.endswith("\n\n") else (body,)
                now = time.time_ns() / 1e6
                for event in events:
                    self.bytes += len(event)
                    for round_, table in PLAY.findall(event):
                        self.seen.setdefault((int(table), int(round_)), now)
                if self._stop.is_set():
                    return


@contextmanager
def browser(url: str) -> Iterator[Page]:
    """Return the page in a Chromium that notes when plays appear."""
    with chromium() as running:
        page = running.new_page(ignore_https_errors=True)
        page.add_init_script(NOTE)
        page.goto(url)
        yield page


PAINTED: Final = """
() => new Promise((told) => new PerformanceObserver((list) => {
  const first = list.getEntriesByName("first-contentful-paint")[0];
  if (first) told(first.startTime);
}).observe({ type: "paint", buffered: true }))
"""


def first_paint_ms(page: Page) -> float:
    """Return the time from requesting the page to its first paint."""
    took: Any = page.evaluate(PAINTED)  # the desk's content security policy forbids `wait_for_function`
    return float(took)


def seen_in(page: Page) -> Seen:
    """Return when each play appeared in the browser."""
    noted: dict[str, float] = page.evaluate("window.seen")
    keys = {key: key.split("-") for key in noted}
    return {(int(parts[3]), int(parts[1])): noted[key] for key, parts in keys.items()}
