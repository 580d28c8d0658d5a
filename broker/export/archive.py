"""All files that an event can be exported as, for `homologue export` and for the desk."""

import io
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from broker.event import Event
from broker.export import ema, results
from broker.export.booklet import booklet_pdf
from broker.export.document import encode_document, event_document
from broker.export.pdf import printed_spellings
from broker.export.pmn import event
from broker.export.pmn.notation import write_records
from broker.export.printed_results import certificates_pdf, standings_pdf, travellers_pdf
from broker.export.replay import replay_page
from broker.i18n import Translator
from broker.protocol import Standing
from broker.rules import RiichiProfile, RuleError
from broker.scorer import StoredEvent, standings

CSV: Final = "text/csv; charset=utf-8"
PDF: Final = "application/pdf"

ENTRY_TIME: Final = (1980, 1, 1, 0, 0, 0)
"""Timestamp of every file in an archive, so that the same event gives the same archive."""


@dataclass(frozen=True, slots=True)
class ExportSource:
    """A loaded event, and the settings for its export."""

    folder: Path
    stored: StoredEvent
    translator: Translator
    at: datetime
    """The time shown on printed pages, with its time zone."""
    embargoed: bool = False
    """Whether to include results of deals that a table has still to play."""
    standings: tuple[Standing, ...] | None = None
    """Replaces the room's standings where those would reveal deals under embargo."""
    anchor: str = ""
    """For the foot of printed pages."""

    @property
    def final(self) -> bool:
        """Whether the standings are final."""
        return self.stored.final

    @property
    def ranked(self) -> tuple[Standing, ...]:
        """The standings to export."""
        if self.standings is not None:
            return self.standings
        return tuple(self.stored.state.snapshot().standings)


@dataclass(frozen=True, slots=True)
class Export:
    """One exported file. `personal`: it contains players' numbers, or more of the event than its results."""

    name: str
    media: str
    make: Callable[[ExportSource], bytes | str]
    personal: bool = False
    at_the_end: bool = False
    """Only available once the standings are final."""
    of_plays: bool = True
    """Not available for an event that only has riichi sessions, where nothing is compared."""
    of_fan: bool = False
    """Not available for riichi."""
    of_teams: bool = False
    """Only available for team events."""

    def reason_unavailable(self, event: Event) -> RuleError | None:
        """Return why an event can never have this file; None if it can."""
        if self.of_plays and not event.plan.plays:
            return RuleError("no_compared_plays", f"this event has riichi sessions alone, and no {self.name}")
        if self.of_teams and not event.plan.teams:
            return RuleError("no_teams", f"this event has no teams, and no {self.name}")
        if self.of_fan and isinstance(event.profile, RiichiProfile):
            return RuleError("no_riichi_record", f"this event is played under riichi rules, and has no {self.name}")
        return None

    def is_available(self, source: ExportSource) -> bool:
        """Return whether the file is available now."""
        return (source.final or not self.at_the_end) and self.reason_unavailable(source.stored.event) is None

    def content(self, source: ExportSource) -> bytes:
        """Return the file's content. Raises RuleError (`not_final` or as `reason_unavailable`), and file errors."""
        if reason := self.reason_unavailable(source.stored.event):
            raise reason
        if self.at_the_end and not source.final:
            raise RuleError(
                "not_final", f"{self.name} is written when the head arbiter has declared the standings final"
            )
        with printed_spellings(source.stored.event):
            content = self.make(source)
        return content.encode() if isinstance(content, str) else content


def _ema(source: ExportSource) -> str:
    return ema.ema_report(source.stored, ema.entrants_of(source.folder, source.stored.event)).text


def _standings(source: ExportSource) -> bytes:
    return standings_pdf(source.stored, source.translator, source.at, source.ranked, anchor=source.anchor)


def _certificates(source: ExportSource) -> bytes:
    event, teams = source.stored.event, source.stored.state.team_rows()
    return certificates_pdf(event, teams or source.ranked, source.at, source.translator)


def _travellers(source: ExportSource) -> bytes:
    return travellers_pdf(source.stored, source.translator, source.at, embargoed=source.embargoed, anchor=source.anchor)


def _booklet(source: ExportSource) -> bytes:
    return booklet_pdf(source.stored, source.translator, source.at, anchor=source.anchor)


EXPORTS: Final = (
    Export("standings.pdf", PDF, _standings),
    Export("travellers.pdf", PDF, _travellers),
    Export("booklet.pdf", PDF, _booklet, at_the_end=True, of_fan=True),
    Export(
        "replay.html",
        "text/html; charset=utf-8",
        lambda src: replay_page(src.stored, src.translator),
        at_the_end=True,
        of_fan=True,
    ),
    Export("certificates.pdf", PDF, _certificates, at_the_end=True),
    Export("standings-table.csv", CSV, lambda src: standings.standings_csv(src.ranked, src.stored.event.origin_of)),
    Export(
        "team-standings.csv", CSV, lambda src: standings.team_standings_csv(src.stored.state.team_rows()), of_teams=True
    ),
    Export(
        "results.csv",
        CSV,
        lambda src: results.results_csv(results.event_result_rows(src.stored, embargoed=src.embargoed)),
    ),
    Export("ema.csv", CSV, _ema, personal=True, at_the_end=True),
    Export(
        "next-event.csv",
        CSV,
        lambda src: results.next_event_csv(src.folder, src.stored),
        personal=True,
        at_the_end=True,
    ),
    Export(
        "plays.pmn",
        "text/plain; charset=utf-8",
        lambda src: write_records(
            event.event_records(src.stored, embargoed=src.embargoed),
            event.pmn_notes(src.stored, embargoed=src.embargoed),
        ),
        of_fan=True,
    ),
    Export("plays.jsonl", "application/jsonl", lambda src: results.play_lines(src.stored, embargoed=src.embargoed)),
    Export(
        "event.json",
        "application/json",
        lambda src: encode_document(event_document(src.folder, src.stored, embargoed=src.embargoed)),
        personal=True,
        of_plays=False,
    ),
)
"""The table of standings is `standings-table.csv`, because `standings.csv` in an event's folder belongs to the
scorer."""

BY_NAME: Final = {export.name: export for export in EXPORTS}


def archive(source: ExportSource, exports: Iterable[Export] = EXPORTS) -> bytes:
    """Return all files that are available now, as one archive (zip)."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as zip_file:
        for export in exports:
            if export.is_available(source):
                entry = zipfile.ZipInfo(f"{source.stored.event.name}/{export.name}", ENTRY_TIME)
                entry.compress_type = zipfile.ZIP_DEFLATED
                zip_file.writestr(entry, export.content(source))
    return out.getvalue()
