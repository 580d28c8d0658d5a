"""A look at one label of a known kind: its frame is found and fitted, either way up, and its word guessed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from vision.geometry import Picture, Quad
from vision.marks.label_fit import fit_pose, sample_modules, template
from vision.marks.label_frame import ANGLES, find_frame, fit_frame
from vision.marks.label_modules import Guess, guess_word
from vision.marks.label_patch import Kind, Patch, Pose, cut_patch, kind_at

MARGIN = 3.5  # modules about the DataMatrix: labels are not all stuck on at one place, and quads are off by a little
_FRAME_AT_ONCE = 0.66  # a frame so like that the other way up need not be tried
_NOT_LOOKED = -1.0


@dataclass(frozen=True, eq=False)
class Look:
    """One label where it seems to lie.

    `frame` and `other_frame` are the correlations of its frame this way up and the other, -1..1.
    """

    patch: Patch
    pose: Pose
    frame: float
    other_frame: float = _NOT_LOOKED

    @cached_property
    def guess(self) -> Guess:
        """What it seems to say."""
        return guess_word(sample_modules(self.patch, self.pose))

    @property
    def kind(self) -> Kind:
        """How this very label looks."""
        return kind_at(self.patch, self.pose)


def look_at(grey: Picture, quad: Quad, kind: Kind, *, margin: float = MARGIN) -> Look:
    """Look at a tile for a label of this kind, the likelier way up."""
    upright = fit(find(grey, quad, kind, turned=False, margin=margin))
    if upright.frame >= _FRAME_AT_ONCE:
        return upright
    turned = fit(find(grey, quad, kind, turned=True, margin=margin))
    first, second = (upright, turned) if upright.frame >= turned.frame else (turned, upright)
    return replace(first, other_frame=second.frame)


def look_again(look: Look) -> Look:
    """Fit the whole of the guessed word instead of its frame alone."""
    return replace(look, pose=fit_pose(look.patch, look.pose.affine, template(look.guess.white)))


def find(
    grey: Picture, quad: Quad, kind: Kind, *, turned: bool, margin: float, angles: Sequence[float] = ANGLES
) -> Look:
    """Search a tile for the frame of a label of this kind, this way up."""
    patch = cut_patch(grey, quad, kind, turned=turned, margin=margin)
    pose = find_frame(patch, angles)
    return Look(patch, pose, pose.likeness)


def fit(look: Look) -> Look:
    """Fit the frame where it was found."""
    pose = fit_frame(look.patch, look.pose)
    return replace(look, pose=pose, frame=pose.likeness)
