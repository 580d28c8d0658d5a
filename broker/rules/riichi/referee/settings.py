"""What clubs settle differently within a hand: the part `play` of a riichi profile."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from broker.rules.profile import Stated

Milliseconds = Annotated[int, Meta(ge=0, le=60_000)]


class PlayRules(Struct, frozen=True, forbid_unknown_fields=True):
    """How a hand is played.

    `kuikae`: whether a caller may discard at once a tile that would have completed the same set. `riichi_tiles_left`:
    tiles that have to be in the live wall. `priority_ms`: from the discard; so long a pon or kan comes before a chii,
    afterwards who is first. `ron_ms`: so long a ron comes before all. `open_kan_dora`: when its indicator is turned;
    that of a concealed kan is at once. `rinshan_dora`: whether a win on the replacement tile counts one that is still
    to be turned. `orphans_rob`: whether thirteen orphans may rob a concealed kan.
    """

    kuikae: Stated[Literal["allowed", "same_tile", "forbidden"]]
    riichi_tiles_left: Stated[Annotated[int, Meta(ge=0, le=20)]]
    priority_ms: Stated[Milliseconds]
    ron_ms: Stated[Milliseconds]
    open_kan_dora: Stated[Literal["at_once", "with_discard"]]
    rinshan_dora: Stated[bool]
    orphans_rob: Stated[bool]
