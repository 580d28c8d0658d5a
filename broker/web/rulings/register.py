"""The register of infractions by player, the appeals, and both as PDF; also each ruling's record for signing."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from markupsafe import Markup
from reportlab.lib.pagesizes import A4
from reportlab.lib.units import mm
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from broker.export.pdf import (
    MARGIN,
    Columns,
    PageBlock,
    PageCell,
    PageHeading,
    PageLine,
    pages_pdf,
    printed_spellings,
    striped_rows,
)
from broker.i18n import N_
from broker.rules import infractions_of
from broker.rulings import RulingEntry
from broker.rulings.infractions import Appeal, RegisterEntry, appeal_until, appeals, register
from broker.rulings.preview import RulingChange, RulingChanges
from broker.rulings.service import RulingService
from broker.web import Access, HtmlTranslator, errors, render, render_page, translator_for
from broker.web.labels import ROLE, RULING, VERDICT, recorded_text
from broker.web.rulings.history import RulingWriter
from broker.web.services import AuditedRulings

PATH: Final = "/infractions"
COLUMNS: Final = (N_("Player"), N_("Infraction"), N_("Penalty"), N_("No."), N_("When, by whom and why"))
TIME: Final = "%Y-%m-%d %H:%M"

LABEL: Final = 48 * mm
RECORD: Final[Columns] = ((LABEL, "left"), (A4[0] - 2 * MARGIN - LABEL, "left"))
REGISTER: Final[Columns] = tuple(
    (width * mm, "left")
    for width in (38, 42, 24, 8, 70)  # in mm, for COLUMNS
)
BLANK_LINES: Final = 3
"""Blank lines to write on."""


class RegisterRow(NamedTuple):
    """One line of the register. `time` is 1 for the player's first infraction of this kind."""

    entry: RegisterEntry
    time: int


def by_player(entries: Iterable[RegisterEntry], names: RulingWriter) -> list[RegisterRow]:
    """Return the register sorted by the players' names, oldest first for each."""
    times, found = Counter[tuple[str, str | None]](), list[RegisterRow]()
    for one in entries:
        times[one.player, one.infraction] += 1
        found.append(RegisterRow(one, times[one.player, one.infraction]))
    return sorted(found, key=lambda one: names.name(one.entry.player))


class RecordPart(NamedTuple):
    """A part of a record: its title and its labelled lines. A text of None leaves blank lines to write on."""

    title: str
    lines: Sequence[tuple[str, str | None]]


class RegisterPage:
    """Serves arbiters."""

    def __init__(self, access: Access, rulings: AuditedRulings) -> None:
        self._access, self._rulings = access, rulings

    def routes(self) -> Sequence[Route]:
        """Return the routes of the page and its PDFs."""
        return [
            self._access.route(PATH, self.show, "see_room"),
            self._access.route(f"{PATH}.pdf", self.printed, "see_room"),
            self._access.route("/ruling/{ruling}.pdf", self.record, "see_room"),
        ]

    def show(self, request: Request) -> Response:
        """Show the register and the appeals."""
        writer, event = RulingWriter(request, self._rulings.event), self._rulings.event

        def read(rulings: RulingService) -> dict[str, Any]:
            room, changes = rulings.room, RulingChanges(event, rulings.room)
            listed = appeals(room)
            return {
                "register": by_player(register(room), writer),
                "appeals": listed,
                "declared": room.book.declared is not None,
                "texts": {one.against.id: changes.of(one.against) for one in listed},
            }

        values = self._rulings.query(read)
        values["texts"] = {id_: writer.of(change) for id_, change in values["texts"].items()}
        values |= {"writer": writer, "players": event.players, "catalogue": infractions_of(event.profile)}
        return render_page(request, "infractions.html", N_("Infractions and appeals"), values=values)

    def printed(self, request: Request) -> Response:
        """Return the register as PDF."""
        _, writer = translator_for(request), RulingWriter(request, self._rulings.event)
        listed = by_player(self._rulings.query(lambda rulings: register(rulings.room)), writer)
        lines = (
            (
                writer.name(entry.player),
                str(writer.infraction(entry.infraction)) or "–",
                penalty_text(_, entry),
                str(time),
                " · ".join(filter(None, _circumstances(_, entry))),
            )
            for entry, time in listed
        )
        heading = self._heading(request, str(_("Infractions")))
        with printed_spellings(self._rulings.event):
            content = register_pdf(heading, [str(_(title)) for title in COLUMNS], lines)
        return render.pdf_response(content, "infractions.pdf")

    def record(self, request: Request) -> Response:
        """Return the record of one ruling, with the appeal against it or blank lines for one."""
        id_, event = request.path_params["ruling"], self._rulings.event

        def read(rulings: RulingService) -> tuple[RulingChange, bool, Appeal | None, int] | None:
            room = rulings.room
            entry = room.book.entries.get(id_)
            if entry is None:
                return None
            appeal = next((one for one in appeals(room) if one.against is entry or one.entry is entry), None)
            entry = appeal.against if appeal else entry
            change = RulingChanges(event, room).of(entry)
            return change, room.book.counts(entry.id), appeal, appeal_until(room, entry)

        found = self._rulings.query(read)
        if found is None:
            raise errors.PageUnknown("there is no such ruling")
        change, counts, appeal, until = found
        parts = self._parts(request, change, counts=counts, appeal=appeal, until=until)
        _ = translator_for(request)
        with printed_spellings(event):
            content = ruling_pdf(self._heading(request, str(_("Record of a ruling"))), parts)
        return render.pdf_response(content, "ruling.pdf")

    def _parts(
        self, request: Request, change: RulingChange, *, counts: bool, appeal: Appeal | None, until: int
    ) -> Iterator[RecordPart]:
        _, writer, entry = translator_for(request), RulingWriter(request, self._rulings.event), change.entry
        described = writer.of(change)
        rows = [
            (_("Kind"), _(RULING[entry.kind])),
            (_("About"), " · ".join(_about(_, entry)) or _("Event")),
            *((_(title), text) for title, text in ((N_("Ruling"), described.what), (N_("Was"), described.was)) if text),
            *([(_.pgettext("after a ruling", "Now"), described.now)] if described.now else []),
            (_("Reason"), _recorded(_, entry.reason)),
            (_("Given by"), " · ".join((_recorded(_, entry.author), _(ROLE[entry.role]), _time_text(entry.at)))),
            (_("State"), _("counts") if counts else _("taken back")),
        ]
        yield RecordPart(_("Ruling"), [(str(label), _plain(text)) for label, text in rows])
        lodged, decided = appeal.entry if appeal else None, appeal.decided if appeal else None
        yield RecordPart(
            _("Appeal"),
            [
                (_("Appeals until"), _time_text(until)),
                (_("Who appeals"), " · ".join(map(writer.name, appeal.players)) if appeal else None),
                (_("Grounds"), lodged.reason if lodged else None),
                (_("Received"), f"{lodged.author} · {_time_text(lodged.at)}" if lodged else None),
            ],
        )
        yield RecordPart(
            _("Committee"),
            [
                (_("Names"), " · ".join(appeal.committee) if appeal and decided else None),
                (_("What was decided"), _plain(_(VERDICT[appeal.verdict])) if appeal and appeal.verdict else None),
                (_("Why"), decided.reason if decided else None),
                (_("When"), _time_text(decided.at) if decided else None),
                (_("Signatures"), None),
            ],
        )

    def _heading(self, request: Request, kind: str) -> PageHeading:
        event, _ = self._rulings.event, translator_for(request)
        now, final = self._rulings.query(lambda rulings: (rulings.now(), rulings.room.final))
        at = datetime.fromtimestamp(now / 1000).astimezone()
        return PageHeading(event.plan.title, kind, final, event.profile.id, "", at, _)


def penalty_text(_: HtmlTranslator, entry: RegisterEntry) -> str:
    """Describe a penalty: the measure, and the IMPs if any."""
    imp = _("{imp} IMP", imp=entry.imp) if entry.imp else ""
    return str(imp if entry.measure == "fine" else " · ".join(filter(None, (_(RULING[entry.measure]), imp))))


def _about(_: HtmlTranslator, entry: RulingEntry) -> Iterator[str]:
    if entry.table:
        yield _("Table {table}", table=entry.table)
        yield _("Round {round}", round=entry.round)
    if entry.deal:
        yield _("Deal {deal}", deal=entry.deal)


def _circumstances(_: HtmlTranslator, entry: RegisterEntry) -> Iterator[str]:
    yield _time_text(entry.at)
    if entry.play:
        yield _("Table {table}", table=entry.play[0])
        yield _("Round {round}", round=entry.play[1])
    yield _recorded(_, entry.author or "")
    yield _recorded(_, entry.reason)


def _plain(text: str) -> str:
    return text.striptags() if isinstance(text, Markup) else text


def _recorded(_: HtmlTranslator, text: str) -> str:
    return _plain(recorded_text(_, text))


def _time_text(at: int) -> str:
    return datetime.fromtimestamp(at / 1000).astimezone().strftime(TIME)


def ruling_pdf(heading: PageHeading, parts: Iterable[RecordPart]) -> bytes:
    """Return the record of one ruling as PDF."""
    blocks = []
    for part in parts:
        head = PageLine("heading", (PageCell(part.title),))
        blocks.append(PageBlock((head,), tuple(line for row in part.lines for line in _lines(*row))))
    return pages_pdf(heading, blocks, RECORD)


def _lines(label: str, text: str | None) -> list[PageLine]:
    if text is not None:
        return [PageLine("row", (PageCell(label, bold=True), PageCell(text)))]
    blank = PageLine("sum", (PageCell(""), PageCell("")))
    return [PageLine("row", (PageCell(label, bold=True), PageCell(""))), *[blank] * (BLANK_LINES - 1)]


def register_pdf(heading: PageHeading, columns: Sequence[str], lines: Iterable[Sequence[str]]) -> bytes:
    """Return the register by player as PDF. Each line has a cell for each of `columns`."""
    rows = striped_rows([PageCell(cell) for cell in line] for line in lines)
    block = PageBlock((PageLine("columns", tuple(map(PageCell, columns))),), rows)
    return pages_pdf(heading, [block], REGISTER)
