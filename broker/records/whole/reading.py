"""A document back into an event's folder, that a scorer can be started on."""

from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import msgspec
import tomli_w

from broker.contract import topics
from broker.contract.messages import Ruling
from broker.contract.plans import Player
from broker.contract.rulings import OF_A_PLAY, DealPlayed, named
from broker.contract.wire import encode
from broker.credentials import write_private
from broker.organiser.deals.committed import COMMITMENT
from broker.organiser.deals.files import decode_json
from broker.organiser.events.listed import FURTHER, Listed, players_csv
from broker.records.whole.document import Document
from broker.rules.errors import RuleError
from broker.scorer.event import EVENT, Event
from broker.scorer.folder import write_deals, write_hands, write_registry
from broker.scorer.intake import Intake
from broker.scorer.origins import PLAYERS
from broker.scorer.own_rules import PROFILE, PROFILES, OwnRules
from broker.scoring.lineups import team_of_players
from broker.store.errors import StoreBroken
from broker.store.journal import Kept, message_of
from broker.store.opened import open_journal

LARGEST: Final = 512 * 2**20
"""Bytes; an event of 160,000 plays is about 200 MB."""


def read(path: Path) -> Document:
    """Read a document. Raises RuleError `too_large`, `malformed`; OSError."""
    if path.stat().st_size > LARGEST:
        raise RuleError("too_large", f"{path.name} has more than {LARGEST} bytes")
    return decode_json(path.read_bytes(), Document, path.name)


def restore(made: Document, folder: Path) -> int:
    """Make an event's folder; give how many facts are in its journal. Nothing is written unless all of it is right.

    The store has a new name: tables that are still there send again what they have. Raises RuleError `not_whole`,
    `folder_taken`; BadEvent, StoreError, OSError.
    """
    if not made.whole:
        raise RuleError("not_whole", "something is left out of this document: `homologue export json --whole` has all")
    if folder.exists() and any(folder.iterdir()):
        raise RuleError("folder_taken", f"{folder} is not empty; an event is imported into a new folder")
    event = Event(made.plan, made.deals, made.sets, OwnRules(made.rules, made.session_rules))
    messages = list(_judged(made, event))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _write_files(made, folder)
    with closing(open_journal(folder, made.plan.name)) as journal, journal.commit():
        for received_at, message in messages:
            journal.append(message, received_at)
    # Last: without it a folder is no event, and half an imported one must be none.
    write_private(folder / EVENT, tomli_w.dumps(msgspec.to_builtins(made.plan)).encode())
    return len(messages)


def _judged(made: Document, event: Event) -> Iterator[tuple[int, Kept]]:
    """Give the journal, each message judged as if it came from its table now. Raises RuleError `journal_refused`."""
    intake = Intake(event, ())
    for at, entry in enumerate(made.journal, 1):
        try:
            message = message_of(bytes(entry.message))
        except StoreBroken as broken:
            raise RuleError("journal_refused", f"message {at}: {broken}") from None
        if isinstance(message, Ruling):
            _check_ruling(message, event, intake, at)
            intake.rule(message)
            yield entry.received_at, message
            continue
        verdict = intake.judge(topics.LOG.at(event.name, table=message.table), encode(message))
        if verdict.code or not verdict.new:
            raise RuleError("journal_refused", f"message {at}: {verdict.code or 'it is there twice'}: {verdict.text}")
        intake.take(message)
        yield entry.received_at, message


def _check_ruling(ruling: Ruling, event: Event, intake: Intake, at: int) -> None:
    """Refuse a ruling on what this event does not have. Raises RuleError `journal_refused`."""
    play = (ruling.table, ruling.round)
    known = {None, *event.expected}
    strange = set(named(ruling.decision)) - set(event.players)
    if (
        ruling.event != event.name
        or intake.has(ruling.id)
        or strange
        or ruling.deal not in known
        or (isinstance(ruling.decision, OF_A_PLAY) and play not in event.bookings)
        or (play != (None, None) and play not in event.bookings)
        or (isinstance(ruling.decision, DealPlayed) and ruling.decision.played not in known)
    ):
        raise RuleError("journal_refused", f"message {at}: a ruling on what is not of this event, or there twice")


def _write_files(made: Document, folder: Path) -> None:
    write_deals(folder, made.deals)
    write_registry(folder, made.sets)
    if made.hands:
        write_hands(folder, made.hands)
    if made.rules is not None:
        write_private(folder / PROFILE, made.rules.encode())
    for profile_id, text in made.session_rules.items():
        (folder / PROFILES).mkdir(mode=0o700, exist_ok=True)
        write_private(folder / PROFILES / f"{profile_id}.toml", text.encode())
    if made.people:
        write_private(folder / PLAYERS, players_csv(_listed(made)).encode())
    if made.commitment is not None:
        write_private(folder / COMMITMENT, msgspec.json.format(msgspec.json.encode(made.commitment), indent=2) + b"\n")


def _listed(made: Document) -> Iterable[Listed]:
    team_of = team_of_players(made.plan.teams)
    for person in made.people:
        further = tuple(getattr(person, column) for column in FURTHER)
        player, team = Player(id=person.id, name=person.name), team_of.get(person.id, "")
        yield Listed(player, further, team, person.first_name, person.last_name)
