"""Read labels on tile backs.

Most labels are decoded by zxing in the whole picture at once. The others are examined one by one: the frame of a known
kind of label is found and fitted, either way up, and the likeliest payload is guessed. The guess counts if the odds
against the next likeliest payload are high enough.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import multimode

import cv2
import numpy as np
import zxingcpp

from vision.geometry import UNIT_SQUARE, Picture, Quad, diagonal_crossing, homography_between, project
from vision.marks import LabelKind, TileMark
from vision.marks.label_code import MODULE_COUNTS, Payload, module_count, parse_payload
from vision.marks.label_fit import HEIGHT_BY_WIDTH, LabelCandidate, find_label, fit_label, look_for_label, refit_label

_GLOBAL = zxingcpp.Binarizer.GlobalHistogram
_LOCAL = zxingcpp.Binarizer.LocalAverage
_LARGER = 1.5  # enlargement; a larger one costs more and decodes no more
_FEW_TILES = 12  # tiles up to which each is decoded by itself; more cost as much as the whole picture
_MARGIN = 0.1  # margin around a tile, in its size
_ASKEW = 0.47  # tangent of the angle, 25 degrees, from which a label no longer tells how its tile stands


@dataclass(frozen=True, slots=True, eq=False)
class LabelHit:
    """A decoded label on its tile; `turned` is None if the label is on its side or askew."""

    payload: Payload
    kind: LabelKind
    turned: bool | None


def as_grey(picture: Picture) -> Picture:
    """Convert a picture, BGR or grey, to grey."""
    colours = picture.shape[2:]
    return np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), dtype=np.uint8) if colours else picture


DecodedLabel = tuple[Payload, int, Quad]  # payload, number of modules across, corners in pixels


@dataclass(frozen=True, slots=True, eq=False)
class LabelHits:
    """The labels that zxing decodes in a picture, by the index of their quad."""

    hits: dict[int, LabelHit]
    refuted: set[int]  # quads with two different labels
    inverted: bool = False  # whether modules are white on black


DismissTiles = Callable[[list[int]], set[int]]


def _dismiss_none(_: list[int]) -> set[int]:
    return set()


def find_hits(grey: Picture, quads: Sequence[Quad], dismiss: DismissTiles = _dismiss_none) -> LabelHits:
    """Decode a whole grey picture at once, then the tiles that are left in other ways that cost little.

    A local threshold comes first, as it works in uneven light. A global one ignores blur that a local one takes for
    modules. Enlarging the picture by half helps with modules of about two pixels; this is done only for tiles that are
    left and that `dismiss` has not dismissed. If nothing decodes at all, labels may be white on black.
    """
    found = LabelHits({}, set())
    _add_hits(found, _decode_tiles(grey, quads, range(len(quads)), local=True), quads)
    left = _undecoded(found, quads)
    if found.hits and left:
        left = sorted(set(left) - dismiss(left))
    if left:
        _add_hits(found, _decode_tiles(grey, quads, left, local=False), quads)
    if not found.hits:
        inverted = LabelHits({}, set(), inverted=True)
        _add_hits(inverted, _decode_tiles(255 - grey, quads, range(len(quads)), local=True), quads)
        return inverted if inverted.hits else found
    if left := [at for at in left if at in _undecoded(found, quads)]:
        _add_hits(found, _decode_tiles(grey, quads, left, local=True, larger=_LARGER), quads)
    return found


def _undecoded(found: LabelHits, quads: Sequence[Quad]) -> list[int]:
    return [at for at in range(len(quads)) if at not in found.hits and at not in found.refuted]


def _decode_tiles(
    grey: Picture, quads: Sequence[Quad], chosen: Sequence[int], *, local: bool, larger: float = 1.0
) -> list[DecodedLabel]:
    """Decode the labels of some tiles; if they are few, each in its own part of the picture."""
    height, width = grey.shape
    whole = (0, 0, width, height)
    parts = [whole] if len(chosen) > _FEW_TILES else [_part_about(quads[at], width, height) for at in chosen]
    decoded = []
    for left, top, right, bottom in parts:
        part = grey[top:bottom, left:right]
        if part.size == 0:
            continue
        if larger != 1.0:
            enlarged = cv2.resize(part, None, fx=larger, fy=larger, interpolation=cv2.INTER_LINEAR)
            part = np.asarray(enlarged, dtype=np.uint8)
        found = decode_labels(part, local=local)
        decoded += [(payload, count, corners / larger + [left, top]) for payload, count, corners in found]
    return decoded


def _part_about(quad: Quad, width: int, height: int) -> tuple[int, int, int, int]:
    """Return the box around a tile with a small margin, in pixels: left, top, right, bottom."""
    low, high = quad.min(axis=0), quad.max(axis=0)
    margin = _MARGIN * (high - low)
    left, top = np.clip(low - margin, 0, (width, height)).astype(int).tolist()
    right, bottom = np.clip(high + margin, 0, (width, height)).astype(int).tolist()
    return left, top, right, bottom


def decode_labels(grey: Picture, *, local: bool) -> list[DecodedLabel]:
    """Decode all labels in a grey picture, with a local or a global threshold."""
    found = zxingcpp.read_barcodes(
        np.ascontiguousarray(grey),
        formats=zxingcpp.BarcodeFormats(zxingcpp.BarcodeFormat.DataMatrix),
        try_downscale=False,
        try_invert=False,
        binarizer=_LOCAL if local else _GLOBAL,
    )
    decoded = []
    for barcode in found:
        payload = parse_payload(barcode.text)
        if payload is not None:
            at = barcode.position
            corners = [[p.x, p.y] for p in (at.top_left, at.top_right, at.bottom_right, at.bottom_left)]
            decoded.append((payload, module_count(barcode.text), np.array(corners, dtype=np.float64)))
    return decoded


def _add_hits(found: LabelHits, decoded: list[DecodedLabel], quads: Sequence[Quad]) -> None:
    """Add decoded labels that lie on tiles to `found`; a tile with two different labels gets neither."""
    centres = np.array([diagonal_crossing(quad) for quad in quads]) if decoded else np.zeros((0, 2))
    for payload, count, corners in decoded:
        nearest = int(np.argmin(((centres - corners.mean(axis=0)) ** 2).sum(axis=1)))
        hit = _on_tile(payload, count, corners, quads[nearest])
        if hit is None or nearest in found.refuted:
            continue
        if nearest in found.hits and found.hits[nearest].payload != payload:
            found.refuted.add(nearest)
            del found.hits[nearest]
        else:
            found.hits[nearest] = hit


def _on_tile(payload: Payload, count: int, corners: Quad, quad: Quad) -> LabelHit | None:
    """Return the hit for a decoded DataMatrix on a tile; None if it is not wholly on the tile."""
    on_tile = project(homography_between(quad, UNIT_SQUARE), corners) - 0.5
    if not np.all(np.abs(on_tile) <= 0.5):  # noqa: PLR2004 - a tile reaches half its width from its centre
        return None
    right, down = on_tile[1] + on_tile[2] - on_tile[0] - on_tile[3], on_tile[2] + on_tile[3] - on_tile[0] - on_tile[1]
    size = np.array([np.abs(right[0]), np.abs(down[1])]) / 2
    if HEIGHT_BY_WIDTH * abs(right[1]) > _ASKEW * abs(right[0]):
        return LabelHit(payload, LabelKind(count, np.full(2, np.nan), size), None)
    turned = bool(right[0] < 0)
    middle = on_tile.mean(axis=0)
    return LabelHit(payload, LabelKind(count, -middle if turned else middle, size), turned)


_SAME_SET, _UNKNOWN_SET, _OTHER_SET = 28.0, 40.0, 45.0
_LEAST_LIKENESS = 0.65  # least correlation with the guessed word
_LEAST_FRAME = 0.4  # least correlation with the frame
_FAINT_FRAME = 0.25  # the same before the frame is fitted, which adds a tenth at most
_SEEN_FRAME = 0.6  # correlation from which a label is there even if unread, and its lead over the other way up
_SEEN_LEAD = 0.2
DECODED_CONFIDENCE = 0.9999
"""Confidence of a label that zxing decodes; no confidence is higher."""


def label_odds(label: LabelCandidate) -> float:
    """Return the log-odds of the guessed payload against the likeliest other one."""
    modules = (label.patch.kind.count - 2) ** 2
    likenesses = (label.guess.likeness, label.guess.next_likeness)
    best, other = (min(max(part, 0.0), DECODED_CONFIDENCE) ** 2 for part in likenesses)
    return float(modules / 2 * np.log((1 - other) / (1 - best)))


def label_confidence(label: LabelCandidate) -> float:
    """Return the confidence of a guess, 0..1; more cautious than the odds, which count all errors as noise."""
    return float(min(DECODED_CONFIDENCE, 1 - 10 ** (-label_odds(label) / 10)))


def is_certain(label: LabelCandidate, usual_set: int | None) -> bool:
    """Return whether the guess counts as read; `usual_set` is the set that the picture's other labels name."""
    if label.frame < _LEAST_FRAME:
        return False
    enough = _UNKNOWN_SET if usual_set is None else _SAME_SET if label.guess.payload.set == usual_set else _OTHER_SET
    return label_odds(label) >= enough and label.guess.likeness >= _LEAST_LIKENESS


def is_seen(label: LabelCandidate) -> bool:
    """Return whether there certainly is a label this way up, even if it cannot be read."""
    return label.frame >= _SEEN_FRAME and label.frame - label.other_frame >= _SEEN_LEAD


_LABEL_SIDES = (0.32, 0.345, 0.375, 0.405, 0.435, 0.47)  # width of a DataMatrix, in tile widths: the values to try
_SPOT = np.array([0.0, -0.04])  # where labels are usually stuck on: slightly above the middle
_ON_A_CORNER = (45.0, -45.0)  # degrees: some people stick their labels on as diamonds
_REACH = 0.17  # tile widths to search around that spot
_FITTED = 3  # likeliest frames with one number of modules to fit
_GUESSED = 2  # fitted frames whose payload is guessed


def usual_kind(kinds: Iterable[LabelKind]) -> LabelKind | None:
    """Return the kind of most labels, with their median spot and size; None if there are none."""
    standing = [kind for kind in kinds if np.isfinite(kind.spot).all()]
    if not standing:
        return None
    most = multimode((kind.count, kind.askew) for kind in standing)[0]
    alike = [kind for kind in standing if (kind.count, kind.askew) == most]
    spot, size = (np.median([getattr(kind, part) for kind in alike], axis=0) for part in ("spot", "size"))
    return LabelKind(most[0], spot, size, most[1])


def search_label(grey: Picture, quad: Quad, *, askew: bool = False) -> LabelCandidate | None:
    """Search a tile for labels of every kind; return one that is certain, None if there is none.

    `askew`: whether to search for labels standing on a corner, too.
    """
    angles = (0.0, *_ON_A_CORNER) if askew else (0.0,)
    return next((label for angle in angles if (label := _search_along(grey, quad, angle))), None)


def _search_along(grey: Picture, quad: Quad, angle: float) -> LabelCandidate | None:
    """Search for every number of modules, because the frames of small labels are easily confused."""
    fitted = [label for count in MODULE_COUNTS for label in _likeliest_frames(grey, quad, count, angle)]
    for label in sorted(fitted, key=lambda label: -label.frame):
        closer = refit_label(label)
        if is_certain(closer, None):
            return closer
    return None


def _likeliest_frames(grey: Picture, quad: Quad, count: int, angle: float) -> list[LabelCandidate]:
    """Return the likeliest frames of labels with `count` modules on a tile, fitted."""
    spot = np.zeros(2) if angle else _SPOT
    kinds = [LabelKind(count, spot, np.array([side, side / HEIGHT_BY_WIDTH]), angle) for side in _LABEL_SIDES]
    labels = [
        find_label(grey, quad, kind, turned=turned, margin=_REACH * count / kind.size[0], angles=(0.0,))
        for kind in kinds
        for turned in (False, True)
    ]
    found = sorted((label for label in labels if label.frame > _FAINT_FRAME), key=lambda label: -label.frame)
    fitted = sorted((fit_label(label) for label in found[:_FITTED]), key=lambda label: -label.frame)
    return [label for label in fitted[:_GUESSED] if label.frame >= _LEAST_FRAME]


_TILES = 8  # tiles to decode
_TILE_SIZE = (128, 168)  # pixels: at least three per module
_SEARCHED = 3  # tiles to search


def is_labelled(picture: Picture, quads: Sequence[Quad]) -> bool:
    """Return whether a label decodes on any of a few backs; takes 2 to 4 ms, and is never True for printed numbers.

    `picture` is BGR or grey; `quads` are the corners of tile backs, each of shape (4, 2), pixels. With heavy blur,
    False says little: use `is_labelled_closely` if no printed number was read either.
    """
    chosen = _evenly_chosen(quads, _TILES)
    if not chosen:
        return False
    sheet = np.hstack([as_grey(_tile(picture, quad)) for quad in chosen])
    return any(decode_labels(one, local=local) for one in (sheet, 255 - sheet) for local in (True, False))


def is_labelled_closely(picture: Picture, quads: Sequence[Quad], *, askew: bool = False) -> bool:
    """Return whether up to three backs have a label, by searching for each kind; takes about 25 ms a back.

    `askew`: whether to search for labels standing on a corner, too, which takes three times as long.
    """
    grey = as_grey(picture)
    return any(search_label(grey, quad, askew=askew) for quad in _evenly_chosen(quads, _SEARCHED))


def _evenly_chosen(quads: Sequence[Quad], most: int) -> list[Quad]:
    """Return up to `most` quads, evenly spread."""
    return [quads[round(at)] for at in np.linspace(0, len(quads) - 1, min(most, len(quads)))]


def _tile(picture: Picture, quad: Quad) -> Picture:
    chain = homography_between(quad - 0.5, UNIT_SQUARE * _TILE_SIZE - 0.5)
    return np.asarray(cv2.warpPerspective(picture, chain, _TILE_SIZE, borderMode=cv2.BORDER_REPLICATE), dtype=np.uint8)


_SECOND_LOOKS = 24  # tiles of a picture to look at again; if more are unread, light or focus is to blame
_SEARCHES = 4  # tiles of a picture to search for a label of unknown kind
_NARROW, _WIDER = 3.5, 6.0  # modules to search around the usual spot, at first and in a second look
_FRAME_AT_ONCE = 0.66  # correlation of a frame whose word is guessed before the other way up is tried
_FEW = 3  # labels needed to know the usual set, or the usual kind
_AT_ONCE = 45.0  # log-odds that need no second fit, as they are certain for any set
NO_MARK = TileMark(serial=None, set_text=None, turned=None, confidence=0.0, spot=np.full(2, np.nan))


def read_labels(
    picture: Picture,
    quads: Sequence[Quad],
    dismiss: DismissTiles = _dismiss_none,
    known_labels: Sequence[TileMark] = (),
) -> list[TileMark]:
    """Read the label of each tile back.

    `picture` is BGR or grey. `quads`, each of shape (4, 2), are the corners of backs in pixels, clockwise, 0-1 and 2-3
    the short ends; they may be upside down, and off by up to 3 % of a tile's width. `dismiss` returns which of the
    tiles that do not decode at once need no closer look. `known_labels` is the picture's labels that were read already,
    which show how the others look if there are enough.

    Return a mark for each quad in order: with a serial; without one but with `turned` and `spot`, if there is a label
    that cannot be read; or `NO_MARK`, whose `spot` is NaN.
    """
    if not quads:
        return []
    grey = as_grey(picture)
    found = find_hits(grey, quads, dismiss)
    hits, grey = found.hits, 255 - grey if found.inverted else grey
    doubted = _undecoded(found, quads)
    left = {at: quads[at] for at in sorted(set(doubted) - dismiss(doubted))}
    marks = {at: _mark_of_hit(hit) for at, hit in hits.items()}
    labels = _search_one_by_one(grey, left, hits, known_labels)
    usual_set = _usual_set(hits, [label for label in labels.values() if is_certain(label, None)], known_labels)
    marks |= {at: _mark_of_candidate(label, usual_set) for at, label in labels.items()}
    return [marks.get(at, NO_MARK) for at in range(len(quads))]


def _search_one_by_one(
    grey: Picture, left: dict[int, Quad], hits: dict[int, LabelHit], known_labels: Sequence[TileMark]
) -> dict[int, LabelCandidate]:
    """Search tiles without a hit for the usual kind of label, again for the kind found on the others, then for any."""
    known = [*(hit.kind for hit in hits.values()), *(mark.label for mark in known_labels if mark.label)]
    labels = _first_labels(grey, left, known)
    certain = [label for label in labels.values() if is_certain(label, None)]
    kind = usual_kind([*known, *(label.kind for label in certain)])
    if kind is None:
        return labels
    usual_set = _usual_set(hits, certain, known_labels)
    for at in _uncertain(labels, usual_set)[:_SECOND_LOOKS]:
        labels[at] = max(labels[at], _likelier_candidate(grey, left[at], kind, _WIDER), key=_odds_if_framed)
    if len(known_labels) >= _FEW:  # the first look has found all kinds
        return labels
    searched = {at: search_label(grey, left[at]) for at in _uncertain(labels, usual_set)[:_SEARCHES]}
    labels |= {at: label for at, label in searched.items() if label}
    if other := usual_kind(label.kind for label in searched.values() if label):  # some labels may be replacements
        for at in _uncertain(labels, usual_set):
            labels[at] = max(labels[at], _likelier_candidate(grey, left[at], other, _NARROW), key=_odds_if_framed)
    return labels


def _first_labels(grey: Picture, left: dict[int, Quad], known: list[LabelKind]) -> dict[int, LabelCandidate]:
    """Search for the known kind; if few labels showed it and it gives no certain read, search for the kind first."""
    labels: dict[int, LabelCandidate] = {}
    usual = usual_kind(known)
    if kind := usual:
        labels = {at: _likelier_candidate(grey, quad, kind, _NARROW) for at, quad in left.items()}
    if len(known) >= _FEW or any(is_certain(label, None) for label in labels.values()):
        return labels
    if kind := _search_kind(grey, list(left.values()), askew=usual is None):
        labels = {at: _likelier_candidate(grey, quad, kind, _NARROW) for at, quad in left.items()}
    return labels


def _likelier_candidate(grey: Picture, quad: Quad, kind: LabelKind, margin: float) -> LabelCandidate:
    """Look at a tile one way up, and the other way unless the first is beyond doubt; return the likelier candidate."""
    upright = look_for_label(grey, quad, kind, turned=False, margin=margin)
    if upright.frame >= _FRAME_AT_ONCE and label_odds(upright) >= _AT_ONCE:
        return upright
    turned = look_for_label(grey, quad, kind, turned=True, margin=margin)
    first, second = (upright, turned) if upright.frame >= turned.frame else (turned, upright)
    label = replace(first, other_frame=second.frame)
    if label.frame < _LEAST_FRAME or label_odds(label) >= _AT_ONCE:
        return label
    return max(label, refit_label(label), key=label_odds)


def _odds_if_framed(label: LabelCandidate) -> float:
    """Return the log-odds of a guess, -1 for one without a frame around it."""
    return label_odds(label) if label.frame >= _LEAST_FRAME else -1.0


def _search_kind(grey: Picture, quads: list[Quad], *, askew: bool) -> LabelKind | None:
    """Search some of the tiles until one of them shows the kind of label."""
    for quad in quads[:: max(1, len(quads) // _SEARCHES)][:_SEARCHES]:
        if label := search_label(grey, quad, askew=askew):
            return label.kind
    return None


def _uncertain(labels: dict[int, LabelCandidate], usual_set: int | None) -> list[int]:
    return [at for at, label in labels.items() if not is_certain(label, usual_set)]


def _usual_set(
    hits: dict[int, LabelHit], labels: Iterable[LabelCandidate], known_labels: Iterable[TileMark] = ()
) -> int | None:
    """Return the set that most labels name; None if fewer than three name it."""
    named = Counter([hit.payload.set for hit in hits.values()] + [label.guess.payload.set for label in labels])
    named.update(int(mark.set_text) for mark in known_labels if mark.set_text)
    number, times = named.most_common(1)[0] if named else (None, 0)
    return number if times >= _FEW else None


def _mark_of_hit(hit: LabelHit) -> TileMark:
    payload, kind = hit.payload, hit.kind
    return TileMark(payload.serial, payload.set_text, hit.turned, DECODED_CONFIDENCE, kind.spot, label=kind)


def _mark_of_candidate(label: LabelCandidate, usual_set: int | None) -> TileMark:
    upright = label.kind.askew == 0
    turned, spot = (label.patch.turned, label.kind.spot) if upright else (None, NO_MARK.spot)
    if is_certain(label, usual_set):
        payload = label.guess.payload
        return TileMark(payload.serial, payload.set_text, turned, label_confidence(label), spot, label=label.kind)
    return TileMark(None, None, turned, 0.0, spot) if upright and is_seen(label) else NO_MARK
