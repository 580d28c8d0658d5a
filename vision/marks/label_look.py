"""A look at one label of a known kind: its frame is found and fitted, either way up, and its word guessed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from vision.geometry import Picture, Quad
from vision.marks.label_fit import fit_pose, sample_modules, template
from vision.marks.label_frame import ANGLES, find_frame, fit_frame
from vision.marks.label_modules import Guess, guess_word
from vision.marks.label_patch import Kind, Patch, Pose, cut_patch, kind_at

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


def look_at(grey: Picture, quad: Quad, kind: Kind, *, turned: bool, margin: float) -> Look:
    """Look at a tile for a label of this kind, this way up, `margin` modules about the place where it should be."""
    return fit(find(grey, quad, kind, turned=turned, margin=margin))


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
