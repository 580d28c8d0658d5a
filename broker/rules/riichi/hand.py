"""A winner's riichi hand, and whether it can have won in the given situation.

Impossible hands cannot be constructed. Tiles are written as in `broker.rules.deal`, with `0m 0p 0s` for the red fives.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from broker.errors import RuleError, refuse_if
from broker.protocol import SEATS
from broker.rules.deal import COPIES, RED
from broker.rules.mcr import hand
from broker.rules.riichi.profile import HandRules

KINDS_OF_MELD: Final[Mapping[str, str]] = {"chii": "chow", "pon": "pung", "kan": "kong"}
"""The MCR kind of each kind of meld."""

MOST_INDICATORS: Final = 5
"""One at the start, and one for each of four kans."""


@dataclass(frozen=True, slots=True)
class RiichiHandMeld:
    """A set laid down: `chii`, `pon` or `kan`. Only a kan can be closed.

    Raises RuleError `unknown_tile`, `not_a_meld` or `concealed_meld`.
    """

    kind: str
    tiles: tuple[str, ...]
    open: bool = True

    def __post_init__(self) -> None:
        """Refuse tiles that do not form the meld."""
        if self.kind not in KINDS_OF_MELD:
            raise RuleError("not_a_meld", f"{self.kind[:20]!r} is no meld; there are: {', '.join(KINDS_OF_MELD)}")
        _ = self.plain

    @property
    def plain(self) -> hand.McrMeld:
        """The meld with ordinary fives, in the form whose tiles can be checked under either rule book."""
        return hand.McrMeld(KINDS_OF_MELD[self.kind], without_red(self.tiles), concealed=not self.open)


@dataclass(frozen=True, slots=True)
class RiichiHand:
    """A winner's tiles: the concealed ones without the winning tile, the winning tile, and the melds.

    Raises RuleError `unknown_tile`, `wrong_tile_count` or `five_of_a_tile`.
    """

    concealed: tuple[str, ...]
    winning_tile: str
    melds: tuple[RiichiHandMeld, ...] = ()

    def __post_init__(self) -> None:
        """Refuse tiles that one player cannot have."""
        melds = [meld.plain for meld in self.melds]
        hand.check_tiles(without_red(self.concealed), melds, *without_red((self.winning_tile,)))

    @property
    def standing(self) -> tuple[str, ...]:
        """The tiles outside melds, including the winning tile, with red fives as ordinary ones."""
        return without_red((*self.concealed, self.winning_tile))

    @property
    def all_tiles(self) -> tuple[str, ...]:
        """All tiles, with red fives as such, the winning tile last."""
        return (*(tile for meld in self.melds for tile in meld.tiles), *self.concealed, self.winning_tile)

    @property
    def open(self) -> bool:
        """Whether a tile was claimed from another player before the win."""
        return any(meld.open for meld in self.melds)


@dataclass(frozen=True, slots=True)
class RiichiSituation:
    """How the hand won. Raises RuleError `unknown_wind`, `unknown_tile` or `too_many_indicators`.

    `riichi`: 0 none, 1 riichi, 2 double riichi. `first_turn`: before any call and before the winner's first discard
    (tenhou, chiihou, renhou). `after_eight_counters`: there were eight counters on the table (paarenchan).
    """

    seat_wind: str
    round_wind: str
    self_drawn: bool
    riichi: int = 0
    open_riichi: bool = False
    ippatsu: bool = False
    rinshan: bool = False
    chankan: bool = False
    haitei: bool = False
    houtei: bool = False
    first_turn: bool = False
    after_eight_counters: bool = False
    dora_indicators: tuple[str, ...] = ()
    ura_indicators: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse winds and tiles that do not exist, and impossible numbers of indicators."""
        for which, wind in (("seat", self.seat_wind), ("round", self.round_wind)):
            if wind not in SEATS:
                raise RuleError("unknown_wind", f"{wind[:20]!r} is no {which} wind; there are: {', '.join(SEATS)}")
        for indicators in (self.dora_indicators, self.ura_indicators):
            hand.refuse_unknown(without_red(indicators))
            if len(indicators) > MOST_INDICATORS:
                raise RuleError("too_many_indicators", f"{len(indicators)} indicators, at most {MOST_INDICATORS}")
        dora, ura = len(self.dora_indicators), len(self.ura_indicators)
        if 0 < dora < ura:  # without dora, the request may be about the indicators below them only
            raise RuleError("too_many_indicators", f"{ura} indicators below {dora}: one lies under each")

    @property
    def dealer(self) -> bool:
        """Whether the winner is the dealer, whose wind is east."""
        return self.seat_wind == "east"


def without_red(tiles: Iterable[str]) -> tuple[str, ...]:
    """Return tiles with red fives as ordinary fives."""
    return tuple(RED.get(tile, tile) for tile in tiles)


def check_seen(hand: RiichiHand, situation: RiichiSituation) -> None:
    """Raise RuleError `five_of_a_tile` if the hand and the indicators together have too many of a tile."""
    seen = without_red((*hand.all_tiles, *situation.dora_indicators, *situation.ura_indicators))
    for tile in set(seen):
        if seen.count(tile) > COPIES:
            text = f"{tile} is there {seen.count(tile)} times with the indicators; a set has {COPIES}"
            raise RuleError("five_of_a_tile", text)


def check_riichi_situation(hand: RiichiHand, situation: RiichiSituation, rules: HandRules) -> None:
    """Raise RuleError if tiles, situation and rules contradict each other; docs/riichi.md lists the codes."""
    check_seen(hand, situation)
    _check_red(hand, rules)
    _check_riichi(hand, situation, rules)
    _check_last_tile(situation)
    _check_kan(hand, situation)
    if situation.first_turn:
        _check_first_turn(hand, situation)


def _check_red(hand: RiichiHand, rules: HandRules) -> None:
    if not rules.red_fives.value:
        return  # a red five is then an ordinary one: many sets have them even where they do not count
    tiles = hand.all_tiles
    for red, five in RED.items():
        wrong = tiles.count(red) > 1 or tiles.count(five) > 3  # noqa: PLR2004 - the fourth one is red
        refuse_if(wrong, "wrong_red_fives", f"of the four {five} one is red: {red} at most once, {five} three times")


def _check_riichi(hand: RiichiHand, situation: RiichiSituation, rules: HandRules) -> None:
    refuse_if(bool(situation.riichi) and hand.open, "riichi_with_open_hand", "riichi is declared on a closed hand only")
    refuse_if(situation.ippatsu and not situation.riichi, "ippatsu_without_riichi", "ippatsu needs riichi")
    refuse_if(situation.ippatsu and situation.rinshan, "ippatsu_with_rinshan", "a kan of one's own has ended ippatsu")
    refuse_if(situation.open_riichi and not situation.riichi, "open_riichi_without_riichi", "open riichi needs riichi")
    refused = situation.open_riichi and not rules.open_riichi.value
    refuse_if(refused, "open_riichi_refused", "these rules know no open riichi")


def _check_last_tile(situation: RiichiSituation) -> None:
    refuse_if(situation.haitei and not situation.self_drawn, "haitei_on_discard", "haitei is the last tile drawn")
    refuse_if(situation.houtei and situation.self_drawn, "houtei_self_drawn", "houtei is the last tile discarded")
    # MONTREAL: "haitei rinshan" is a contradiction in terms.
    both = situation.haitei and situation.rinshan
    refuse_if(both, "haitei_with_rinshan", "a replacement tile is never the last tile of the wall")
    both = situation.houtei and situation.chankan
    refuse_if(both, "houtei_with_chankan", "a tile added to a kan is no discard")


def _check_kan(hand: RiichiHand, situation: RiichiSituation) -> None:
    refuse_if(situation.rinshan and not situation.self_drawn, "rinshan_on_discard", "a replacement tile is drawn")
    no_kan = situation.rinshan and all(meld.kind != "kan" for meld in hand.melds)
    refuse_if(no_kan, "replacement_without_kong", "a replacement tile is drawn after a kan, and there is none")
    refuse_if(situation.chankan and situation.self_drawn, "chankan_self_drawn", "a kan is robbed of another's tile")
    if situation.chankan:
        # All four tiles of the kan are accounted for: three of its owner's, and the one robbed.
        seen = without_red((*hand.all_tiles, *situation.dora_indicators, *situation.ura_indicators))
        tile = without_red((hand.winning_tile,))[0]
        refuse_if(seen.count(tile) > 1, "kong_not_robbed", f"another {tile} is seen, so nobody has a kan of it")


def _check_first_turn(hand: RiichiHand, situation: RiichiSituation) -> None:
    refuse_if(bool(hand.melds), "not_first_turn", "the winner has called or made a kan")
    refuse_if(bool(situation.riichi), "not_first_turn", "the winner has declared riichi, so has discarded already")
    refuse_if(situation.haitei or situation.houtei or situation.rinshan, "not_first_turn", "not a tile of a first turn")
    dealer = situation.dealer and not situation.self_drawn
    refuse_if(dealer, "not_first_turn", "the dealer discards before anybody else, so has had a turn")
