"""The draws of an event: announced one after another in `draws.json`, and turned into sealed deals.

`draws.json` is published, and no draw is ever removed from it. The computer's two secrets are stored in `draw.key`
until the draw ends. People's words are only ever stored encrypted, so an interrupted draw reveals nothing. It is
resumed by entering the same words again, which give the same deals.
"""

import secrets
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta, Struct, structs
from msgspec.structs import replace

from broker.event.deals.commitment import COMMITMENT, publish_commitment, read_commitment
from broker.event.deals.make import DRAW_KEY, refuse_existing_deals, salt_deals, set_of_deal
from broker.event.deals.sealing import Opener, ensure_key, read_key, seal, seal_deal, seal_set
from broker.event.file_io import PUBLIC_MODE, read_json
from broker.event.files import DEALS, SETS, Registry, read_deals, read_registry, write_deals, write_registry
from broker.files import make_folder, write_file, write_private
from broker.i18n import N_
from broker.protocol import EventName, Hash, Seat, SetNo, Wind
from broker.rules import RuleError
from broker.rules.commitment import (
    Announcement,
    Beacon,
    Contributor,
    DrawName,
    DrawnWords,
    LineOfText,
    drawn_deals,
    drawn_sets,
    normal_words,
    words_hash,
)

DRAWS: Final = "draws.json"
WORDS: Final = "words.sealed"
SECRET_BYTES: Final = 32


class Draw(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One draw of an event. It is open as long as it has neither `root` nor `given_up`."""

    announcement: Announcement
    hash: Hash
    root: Hash | None = None
    """Root of the commitment to the draw's deals; None if it has none."""
    given_up: LineOfText | None = None
    """Why the draw was abandoned; None if it was not."""

    @property
    def is_open(self) -> bool:
        """Whether the draw's words have still to be entered."""
        return self.root is None and self.given_up is None


class DrawsFile(Struct, frozen=True, forbid_unknown_fields=True):
    """`draws.json`: safe to publish."""

    schema: Literal[1]
    draws: tuple[Draw, ...]


class DrawSecrets(Struct, frozen=True, forbid_unknown_fields=True):
    """`draw.key`: the computer's own secret words for the open draw."""

    computer: Hash
    computer_sets: Hash
    seal_for: Hash | None = None
    """Public key (hex) to seal the deals for, if `deals.key` is on another machine; None for the folder's own."""

    def __repr__(self) -> str:
        """Return a text without the secrets."""
        return "DrawSecrets()"


class DrawRequest(Struct, frozen=True):
    """The deals to be drawn, and the people who contribute words."""

    event: EventName
    deals: Annotated[int, Meta(ge=1)]
    prevalent_winds: tuple[Wind, ...]
    dealers: tuple[Seat, ...]
    people: tuple[Contributor, ...]
    sets: tuple[SetNo, ...] = ()
    red_fives: bool = False
    beacon: Beacon | None = None


def read_draws(folder: Path) -> tuple[Draw, ...]:
    """Return all draws of an event; empty if none was announced.

    Raises RuleError `draws_altered`, naming the first draw that differs from its announcement; as `read_json`.
    """
    if not (folder / DRAWS).exists():
        return ()
    found, before = read_json(folder / DRAWS, DrawsFile).draws, None
    for number, draw in enumerate(found, 1):
        announced = draw.announcement
        if (announced.number, announced.previous, announced.hash) != (number, before, draw.hash):
            raise RuleError(
                "draws_altered", N_("{file}: draw {draw} differs from the announcement", file=DRAWS, draw=number)
            )
        before = draw.hash
    return found


def open_draw(folder: Path) -> Draw | None:
    """Return the draw whose words have still to be entered, if any. Raises as `read_draws`."""
    last = next(reversed(read_draws(folder)), None)
    return last if last and last.is_open else None


def announce_draw(folder: Path, request: DrawRequest, seal_for: str | None = None) -> Draw:
    """Announce a draw and return it. It has to be published before anybody reveals their words.

    Raises RuleError `draw_open`, `deals_exist`, `name_twice`, `words_twice`, `set_not_said`; OSError.
    """
    if open_draw(folder):
        raise RuleError("draw_open", N_("a draw has already been announced: enter its words, or abandon it"))
    refuse_existing_deals(folder)
    _check_contributors(request.people)
    before = read_draws(folder)
    secrets_ = DrawSecrets(secrets.token_hex(SECRET_BYTES), secrets.token_hex(SECRET_BYTES), seal_for)
    known = set(read_registry(folder)) if (folder / SETS).exists() else set()
    announced = Announcement(
        **structs.asdict(request),
        number=len(before) + 1,
        previous=before[-1].hash if before else None,
        new_sets=tuple(sorted(_sets_of(request) - known)),
        computer=words_hash(secrets_.computer),
        computer_sets=words_hash(secrets_.computer_sets),
    )
    draw = Draw(announced, announced.hash)
    make_folder(folder)
    if seal_for is None:
        ensure_key(folder)
    _write_draws(folder, (*before, draw))
    write_private(folder / DRAW_KEY, msgspec.json.encode(secrets_))
    return draw


def _sets_of(request: DrawRequest) -> set[int]:
    """Return the tile sets that the deals will use. Raises RuleError `set_not_said`."""
    return set(request.sets[: request.deals]) or {set_of_deal(number, None) for number in range(1, request.deals + 1)}


def _check_contributors(people: Sequence[Contributor]) -> None:
    """Raise RuleError if nobody contributes, or two people share a name or a hash.

    Whoever copies another's hash would only repeat the same words, and contribute nothing.
    """
    if not people:
        raise RuleError("person_missing", N_("list the people who contribute words"))
    if len({person.name for person in people}) < len(people):
        raise RuleError("name_twice", N_("two people of a draw have the same name"))
    if len({person.words for person in people}) < len(people):
        raise RuleError("words_twice", N_("two people of a draw committed to the same words"))


def _write_draws(folder: Path, draws: Iterable[Draw]) -> None:
    content = msgspec.json.format(msgspec.json.encode(DrawsFile(1, tuple(draws))), indent=2)
    write_file(folder / DRAWS, content + b"\n", PUBLIC_MODE, exactly=True)


def make_drawn_deals(folder: Path, words: Sequence[str], beacon: str = "") -> str:
    """Make and seal the deals of the open draw; return the root of the commitment to them.

    `words` are everybody's, in the order of the announcement. If it is interrupted, call it again with the same words.
    Raises RuleError `no_draw`, `words_differ`, `beacon_missing`, `deals_exist`, `draw_secret_missing`; OSError.
    """
    draw = open_draw(folder)
    if draw is None:
        raise RuleError("no_draw", N_("no draw is open: announce one first"))
    secrets_, announced = _read_secrets(folder, draw), draw.announcement
    revealed = DrawnWords(secrets_.computer, tuple(map(normal_words, words)), normal_words(beacon))
    deals = drawn_deals(announced, revealed)
    new_sets = drawn_sets(announced, replace(revealed, computer=secrets_.computer_sets))
    if (folder / DEALS).exists() and not all(record.sealed for record in read_deals(folder)):
        refuse_existing_deals(folder)  # unsealed deals cannot come from an interrupted run
    public = secrets_.seal_for or read_key(folder).public
    known = read_registry(folder) if (folder / SETS).exists() else {}
    sets = announced.sets or (None,)
    planned = [(deal, sets[at % len(sets)]) for at, (deal, _) in enumerate(deals)]
    records = [replace(record, salt=salt) for record, (_, salt) in zip(salt_deals(planned), deals, strict=True)]
    opened = Opener(folder).plain({one.set: known[one.set] for one in records if one.set in known}) | new_sets
    write_registry(folder, _sealed_sets({**known, **new_sets}, public))
    write_private(folder / WORDS, seal(public, msgspec.json.encode(revealed), draw.hash.encode()).encode())
    write_deals(folder, [seal_deal(record, opened, public) for record in records])
    root = publish_commitment(folder, announced.event, records, DrawName(announced.number, draw.hash))
    _write_draws(folder, (*read_draws(folder)[:-1], replace(draw, root=root)))
    (folder / DRAW_KEY).unlink()
    return root


def _read_secrets(folder: Path, draw: Draw) -> DrawSecrets:
    missing = RuleError(
        "draw_secret_missing",
        N_(
            "{file} does not belong to draw {draw}: abandon the draw and announce another",
            file=DRAW_KEY,
            draw=draw.announcement.number,
        ),
    )
    try:
        secrets_ = read_json(folder / DRAW_KEY, DrawSecrets)
    except FileNotFoundError:
        raise missing from None
    if words_hash(secrets_.computer) != draw.announcement.computer:
        raise missing
    return secrets_


def _sealed_sets(registry: Registry, public: str) -> dict[int, dict[int, str] | str]:
    return {
        number: faces if isinstance(faces, str) else seal_set(number, faces, public)
        for number, faces in sorted(registry.items())
    }


def give_up_draw(folder: Path, reason: str) -> Draw:
    """Abandon the open draw. It stays in the list, with the reason.

    Raises RuleError `no_draw` or `draw_reason_missing`.
    """
    draw = open_draw(folder)
    if draw is None:
        raise RuleError("no_draw", N_("no draw is open: announce one first"))
    try:
        abandoned = replace(draw, given_up=msgspec.convert(" ".join(reason.split()), LineOfText))
    except msgspec.ValidationError:
        raise RuleError("draw_reason_missing", N_("give the reason for abandoning the draw in one line")) from None
    _write_draws(folder, (*read_draws(folder)[:-1], abandoned))
    (folder / DRAW_KEY).unlink(missing_ok=True)
    return abandoned


def read_drawn_words(folder: Path, draw: Draw) -> DrawnWords | None:
    """Return the words of a completed draw; None if the folder has no words. Raises RuleError, OSError."""
    if not (folder / WORDS).exists():
        return None
    raw = read_key(folder).open((folder / WORDS).read_text(encoding="ascii"), draw.hash.encode())
    if raw is None:
        raise RuleError(
            "words_altered", N_("{file} cannot be opened: it was changed, or it belongs to another key", file=WORDS)
        )
    return msgspec.json.decode(raw, type=DrawnWords)


def draw_of_deals(folder: Path) -> Draw | None:
    """Return the draw that the folder's commitment names; None if its deals were not drawn.

    Raises RuleError `draws_altered` if that draw is not in the list; as `read_draws` and `read_commitment`.
    """
    named = read_commitment(folder / COMMITMENT).draw
    if named is None:
        return None
    for draw in read_draws(folder):
        if (draw.announcement.number, draw.hash) == (named.number, named.announcement):
            return draw
    raise RuleError(
        "draws_altered", N_("{file}: draw {draw} differs from the announcement", file=DRAWS, draw=named.number)
    )
