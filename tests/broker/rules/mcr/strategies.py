"""Hypothesis strategies for hands."""

from collections import Counter
from typing import Final

from hypothesis import assume
from hypothesis import strategies as st

from broker.rules import FULL_SET, KINDS
from broker.rules.mcr import McrHand, McrMeld, McrSituation
from tests.broker.rules.mcr.hands import situation
from tests.broker.rules.mcr.oracle import CHOWS, PUNGS

WINDS: Final = st.sampled_from(["east", "south", "west", "north"])


@st.composite
def regular_hands(draw: st.DrawFn) -> McrHand:
    """Draw four sets, some of them melds, and a pair."""
    sets = draw(st.lists(st.sampled_from(CHOWS + PUNGS), min_size=4, max_size=4))
    laid_down = draw(st.integers(0, 4))
    melds = tuple(draw(laid(one)) for one in sets[:laid_down])
    pair = draw(st.sampled_from(KINDS))
    standing = draw(st.permutations([tile for one in sets[laid_down:] for tile in one] + [pair, pair]))
    assume(max((Counter(standing) + Counter(tile for meld in melds for tile in meld.tiles)).values()) <= 4)
    return McrHand(tuple(standing[1:]), standing[0], melds)


@st.composite
def laid(draw: st.DrawFn, tiles: tuple[str, ...]) -> McrMeld:
    """Draw a meld of these tiles. A pung may become a kong."""
    if len(set(tiles)) > 1:
        return McrMeld("chow", tuple(draw(st.permutations(tiles))))
    if draw(st.booleans()):
        return McrMeld("pung", tiles)
    return McrMeld("kong", (*tiles, tiles[0]), concealed=draw(st.booleans()))


@st.composite
def situations(draw: st.DrawFn) -> McrSituation:
    """Draw a situation that is possible with any hand."""
    text = draw(st.sampled_from(["", "drawn", "last_tile", "drawn last_tile"]))
    return situation(text, seat=draw(WINDS), prevalent=draw(WINDS))


@st.composite
def any_tiles(draw: st.DrawFn) -> McrHand:
    """Draw any 14 tiles, often of few kinds so that some hands win."""
    among = draw(st.sampled_from([FULL_SET, FULL_SET[:36], FULL_SET[:20], FULL_SET[100:]]))
    held = draw(st.permutations(among))[:14]
    return McrHand(tuple(held[1:]), held[0])


@st.composite
def pairs(draw: st.DrawFn) -> McrHand:
    """Draw seven pairs."""
    among = draw(st.sampled_from([KINDS, KINDS[:9], KINDS[3:6] + KINDS[12:15], KINDS[:9] + KINDS[27:], KINDS[18:33]]))
    kinds = draw(st.lists(st.sampled_from(among), min_size=7, max_size=7))
    assume(max(Counter(kinds).values()) <= 2)
    return McrHand((*kinds[1:], *kinds), kinds[0])
