"""Labels read: from tile backs to marks. Most are decoded at first sight; the rest are looked at one by one."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from vision.geometry import Picture, Quad
from vision.marks.label_hits import Hit, as_grey, find_hits
from vision.marks.label_kinds import search_look, usual_kind
from vision.marks.label_look import Look, look_again, look_at
from vision.marks.label_odds import DECODED, confidence, is_certain, is_seen, odds
from vision.marks.label_patch import Kind
from vision.sight import Mark

_SECOND_LOOKS = 24  # tiles of a picture that are looked at again: where more are unread, light or focus is to blame
_SEARCHES = 4  # tiles of a picture that are searched for a label of unknown kind
_NARROW, _WIDER = 3.5, 6.0  # modules about the place of the DataMatrix, at first and in a second look
_FRAME_AT_ONCE = 0.66  # a frame so like that its word is worth a guess before the other way up is tried
_FEW = 3  # labels that must tell a set, or how labels look, before others are measured by it
_AT_ONCE = 45.0  # odds that need no second fit: certain in any set
NO_MARK = Mark(serial=None, set_text=None, turned=None, confidence=0.0, spot=np.full(2, np.nan))


Dismiss = Callable[[list[int]], set[int]]


def _nobody(_: list[int]) -> set[int]:
    return set()


def read_labels(picture: Picture, quads: Sequence[Quad], dismiss: Dismiss = _nobody) -> list[Mark]:
    """Read the label of each tile back.

    `picture` is BGR or grey; `quads`, each of shape (4, 2), are corners of backs in pixels, clockwise, 0-1 and 2-3 the
    short ends, half a turn unknown, off by up to 3 % of a tile's width. Gives a mark for each quad in their order: with
    a serial, or without one but with `turned` and `spot` where a label is seen, or with nothing (`spot` is then not a
    number). `dismiss` is asked which of the tiles that are not read at first sight are worth no closer look.
    """
    if not quads:
        return []
    grey = as_grey(picture)
    hits, refuted = find_hits(grey, quads)
    doubted = [at for at in range(len(quads)) if at not in hits and at not in refuted]
    left = {at: quads[at] for at in sorted(set(doubted) - dismiss(doubted))}
    marks = {at: _mark_of_hit(hit) for at, hit in hits.items()}
    looks = _look_closer(grey, left, hits)
    usual_set = _usual_set(hits, [look for look in looks.values() if is_certain(look, None)])
    marks |= {at: _mark_of_look(look, usual_set) for at, look in looks.items()}
    return [marks.get(at, NO_MARK) for at in range(len(quads))]


def _look_closer(grey: Picture, left: dict[int, Quad], hits: dict[int, Hit]) -> dict[int, Look]:
    """Look at each tile without a hit: for the usual kind of label, again with what that taught, then for any kind."""
    looks = _first_looks(grey, left, hits)
    certain = [look for look in looks.values() if is_certain(look, None)]
    kind = usual_kind([*(hit.kind for hit in hits.values()), *(look.kind for look in certain)])
    if kind is None:
        return looks
    usual_set = _usual_set(hits, certain)
    for at in _uncertain(looks, usual_set)[:_SECOND_LOOKS]:
        looks[at] = max(looks[at], _look(grey, left[at], kind, _WIDER), key=odds)
    for at in _uncertain(looks, usual_set)[:_SEARCHES]:
        looks[at] = search_look(grey, left[at]) or looks[at]
    return looks


def _first_looks(grey: Picture, left: dict[int, Quad], hits: dict[int, Hit]) -> dict[int, Look]:
    """Look for the kind of the hits; if few hits told it and nothing can be read so, for a kind that is searched."""
    looks: dict[int, Look] = {}
    if kind := usual_kind(hit.kind for hit in hits.values()):
        looks = {at: _look(grey, quad, kind, _NARROW) for at, quad in left.items()}
    if len(hits) >= _FEW or any(is_certain(look, None) for look in looks.values()):
        return looks
    if kind := _search_kind(grey, list(left.values())):
        looks = {at: _look(grey, quad, kind, _NARROW) for at, quad in left.items()}
    return looks


def _look(grey: Picture, quad: Quad, kind: Kind, margin: float) -> Look:
    """Look at a tile either way up, until what it says is beyond doubt; give the likelier look."""
    upright = look_at(grey, quad, kind, turned=False, margin=margin)
    if upright.frame >= _FRAME_AT_ONCE and odds(upright) >= _AT_ONCE:
        return upright
    turned = look_at(grey, quad, kind, turned=True, margin=margin)
    first, second = (upright, turned) if upright.frame >= turned.frame else (turned, upright)
    look = replace(first, other_frame=second.frame)
    return look if odds(look) >= _AT_ONCE else max(look, look_again(look), key=odds)


def _search_kind(grey: Picture, quads: list[Quad]) -> Kind | None:
    """Search some of the tiles, here and there, until one of them tells how the labels look."""
    for quad in quads[:: max(1, len(quads) // _SEARCHES)][:_SEARCHES]:
        if look := search_look(grey, quad):
            return look.kind
    return None


def _uncertain(looks: dict[int, Look], usual_set: int | None) -> list[int]:
    return [at for at, look in looks.items() if not is_certain(look, usual_set)]


def _usual_set(hits: dict[int, Hit], looks: Iterable[Look]) -> int | None:
    """Give the set that most labels name, None where few name any."""
    named = Counter([hit.payload.set for hit in hits.values()] + [look.guess.payload.set for look in looks])
    number, times = named.most_common(1)[0] if named else (None, 0)
    return number if times >= _FEW else None


def _mark_of_hit(hit: Hit) -> Mark:
    return Mark(hit.payload.serial, hit.payload.set_text, hit.turned, DECODED, hit.kind.spot)


def _mark_of_look(look: Look, usual_set: int | None) -> Mark:
    if is_certain(look, usual_set):
        payload = look.guess.payload
        return Mark(payload.serial, payload.set_text, look.patch.turned, confidence(look), look.kind.spot)
    if is_seen(look):
        return Mark(None, None, look.patch.turned, 0.0, look.kind.spot)
    return NO_MARK
