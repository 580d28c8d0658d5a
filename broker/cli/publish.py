"""`homologue publish`: writes an event's public pages as files for any web server."""

import threading
import time
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Final

import click

from broker.cli import options
from broker.console import FOLDER, json_lines, report, say, working
from broker.daemon import stop_on_signals
from broker.errors import RuleError, ScorerError, StoreError, StoreMissing
from broker.event import PROFILES, STANDINGS, open_event
from broker.i18n import N_
from broker.scorer import EventState, Snapshot, StoredEvent, open_stored_event
from broker.store import open_reader
from broker.web.results.published import PublishedFolder, PublishedPages

PAUSE_S: Final = 2.0
"""Minimum number of seconds between two looks at the event."""

PAUSE_FACTOR: Final = 3
"""The pause is at least this many times as long as the work, to leave the machine to a scorer beside it."""


@click.command("publish", short_help="Write an event's public pages as files for any web server.")
@options.folder_argument
@click.option("--to", "target", type=FOLDER, required=True, help="Folder that the web server serves.")
@click.option("--watch", is_flag=True, help="Keep running until Ctrl-C, and write results as they become public.")
@json_lines
def publish(folder: Path, target: Path, *, watch: bool) -> None:
    """Write standings, travellers, players, teams and the seating plan as files, in all languages.

    The pages are those that the desk shows without a login: nothing of a deal before every table has played it and,
    once the standings are final, walls, par and replay of each deal. A file is written only when its content changes.
    The event is only read, and its scorer may be running. Serve the folder with a web server or a CDN: readers then put
    no load on the scorer.

    \b
    homologue publish my-event --to /var/www/my-event
    homologue publish my-event --to /var/www/my-event --watch
    """
    if folder.resolve() in (target.resolve(), *target.resolve().parents):
        text = N_(
            "{folder} is in the event’s folder, which no web server may serve: choose another folder", folder=target
        )
        raise RuleError("publish_inside_event", text)
    publisher = FolderPublisher(folder, target)
    if not watch:
        with working("Publishing"):
            publisher.step()
        return
    stop = stop_on_signals()
    publisher.follow(stop)


class FolderPublisher:
    """Updates a folder to what is public about an event."""

    def __init__(self, event: Path, target: Path) -> None:
        """Raises RuleError, ScorerError."""
        self._event, self._target, self._name = event, target, open_event(event).name
        self._folder, self._pages = PublishedFolder(target, self._name), PublishedPages(event)

    def follow(self, stop: threading.Event) -> None:
        """Publish until `stop` is set. While the event cannot be read, files stay; the reason is reported once."""
        published: object = None
        failed = ""
        while not stop.is_set():
            began = time.monotonic()
            try:
                mark = self._change_mark()
                if mark != published:
                    self.step(quiet=published is not None)
                    published = mark
                failed = ""
            except (ScorerError, StoreError, OSError) as error:
                if str(error) != failed:
                    report(error, self._event)
                failed = str(error)
            stop.wait(max(PAUSE_S, PAUSE_FACTOR * (time.monotonic() - began)))

    def step(self, *, quiet: bool = False) -> None:
        """Publish what is public now. If `quiet`, report only changes.

        Raises ScorerError, StoreError, OSError.
        """
        files = self._pages.files(*_content(self._event))
        written = self._folder.put(files)
        if written or not quiet:
            size = sum(map(len, files.values()))
            text = f"{self._target}: {len(written)} of {len(files)} files written ({size / 1e6:.1f} MB in all)"
            say(text, folder=self._target, written=len(written), files=len(files), bytes=size)

    def _change_mark(self) -> object:
        """Return a mark of the journal's end and the event's files, which changes if more may have become public."""
        inputs = chain(self._event.glob("*.*"), self._event.glob(f"{PROFILES}/*.toml"))
        kinds = {".toml", ".json", ".csv"}
        times = {one: one.stat().st_mtime_ns for one in inputs if one.suffix in kinds and one.name != STANDINGS}
        try:
            with closing(open_reader(self._event, self._name)) as journal:
                return times, journal.last_link() if journal.has_links else object()
        except StoreMissing:
            return times


def _content(folder: Path) -> tuple[Snapshot, StoredEvent | None]:
    """Return the state of the event according to its store or, before its scorer has started, the plan alone."""
    try:
        stored = open_stored_event(folder)
    except StoreMissing:
        return EventState(open_event(folder)).snapshot(), None
    return stored.state.snapshot(), stored
