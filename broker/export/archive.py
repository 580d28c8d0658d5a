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
from broker.export.pdf import spelled
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

DAY: Final = (1980, 1, 1, 0, 0, 0)
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

    def lacking(self, event: Event) -> RuleError | None:
        """Return why an event can never have this file; None if it can."""
        if self.of_plays and not event.plan.plays:
            return RuleError("no_compared_plays", f"this event has riichi sessions alone, and no {self.name}")
        if self.of_teams and not event.plan.teams:
            return RuleError("no_teams", f"this event has no teams, and no {self.name}")
        if self.of_fan and isinstance(event.profile, RiichiProfile):
            return RuleError("no_riichi_record", f"this event is played under riichi rules, and has no {self.name}")
        return None

    def there(self, source: ExportSource) -> bool:
        """Return whether the file is available now."""
        return (source.final or not self.at_the_end) and self.lacking(source.stored.event) is None

    def content(self, source: ExportSource) -> bytes:
        """Return the file's content. Raises RuleError `not_final` or as `lacking`, and errors of the event's files."""
        if lacking := self.lacking(source.stored.event):
            raise lacking
        if self.at_the_end and not source.final:
            raise RuleError(
                "not_final",
                f"{self.name} is written when the head arbiter has declared the standings final",
            )
        with spelled(source.stored.event):
            made = self.make(source)
        return made.encode() if isinstance(made, str) else made


def _ema(source: ExportSource) -> str:
    return ema.ema_report(source.stored, ema.entrants_of(source.folder, source.stored.event)).text


def _standings(of: ExportSource) -> bytes:
    return standings_pdf(of.stored, of.translator, of.at, of.ranked, anchor=of.anchor)


def _certificates(of: ExportSource) -> bytes:
    event, teams = of.stored.event, of.stored.state.team_rows()
    return certificates_pdf(event, teams or of.ranked, of.at, of.translator)


def _travellers(of: ExportSource) -> bytes:
    return travellers_pdf(of.stored, of.translator, of.at, embargoed=of.embargoed, anchor=of.anchor)


def _booklet(of: ExportSource) -> bytes:
    return booklet_pdf(of.stored, of.translator, of.at, anchor=of.anchor)


EXPORTS: Final = (
    Export("standings.pdf", PDF, _standings),
    Export("travellers.pdf", PDF, _travellers),
    Export("booklet.pdf", PDF, _booklet, at_the_end=True, of_fan=True),
    Export(
        "replay.html",
        "text/html; charset=utf-8",
        lambda of: replay_page(of.stored, of.translator),
        at_the_end=True,
        of_fan=True,
    ),
    Export("certificates.pdf", PDF, _certificates, at_the_end=True),
    Export("standings-table.csv", CSV, lambda of: standings.standings_csv(of.ranked, of.stored.event.origin_of)),
    Export(
        "team-standings.csv",
        CSV,
        lambda of: standings.team_standings_csv(of.stored.state.team_rows()),
        of_teams=True,
    ),
    Export(
        "results.csv", CSV, lambda of: results.results_csv(results.event_result_rows(of.stored, embargoed=of.embargoed))
    ),
    Export("ema.csv", CSV, _ema, personal=True, at_the_end=True),
    Export(
        "next-event.csv", CSV, lambda of: results.next_event_csv(of.folder, of.stored), personal=True, at_the_end=True
    ),
    Export(
        "plays.pmn",
        "text/plain; charset=utf-8",
        lambda of: write_records(
            event.event_records(of.stored, embargoed=of.embargoed), event.pmn_notes(of.stored, embargoed=of.embargoed)
        ),
        of_fan=True,
    ),
    Export("plays.jsonl", "application/jsonl", lambda of: results.play_lines(of.stored, embargoed=of.embargoed)),
    Export(
        "event.json",
        "application/json",
        lambda of: encode_document(event_document(of.folder, of.stored, embargoed=of.embargoed)),
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
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for export in exports:
            if export.there(source):
                entry = zipfile.ZipInfo(f"{source.stored.event.name}/{export.name}", DAY)
                entry.compress_type = zipfile.ZIP_DEFLATED
                packed.writestr(entry, export.content(source))
    return out.getvalue()
