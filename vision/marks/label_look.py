"""A look at one label of a known kind: its frame is found and fitted, either way up, and its word guessed."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from vision.geometry import Picture, Quad
from vision.marks.label_frame import Kind, Patch, Pose, cut_patch, find_frame, fit_pose, sample_modules, whole_template
from vision.marks.label_modules import Guess, guess_word

MARGIN = 3.5  # modules about the DataMatrix: labels are not all stuck on at one place, and quads are off by a little
_FRAME_AT_ONCE = 0.75  # a frame so like that the other way up need not be tried


@dataclass(frozen=True, eq=False)
class Look:
    """One label where it seems to lie: `frame` and `other_frame` are the correlations of its frame this way up and the
    other, -1..1.
    """

    patch: Patch
    pose: Pose
    frame: float
    other_frame: float

    @cached_property
    def guess(self) -> Guess:
        """What it seems to say."""
        return guess_word(sample_modules(self.patch, self.pose))

    @cached_property
    def kind(self) -> Kind:
        """How this very label looks: where on its tile it was found, and how large."""
        count = self.patch.kind.count
        corners = self.patch.to_tile(self.pose.corners(count))
        right, down = (
            corners[1] + corners[2] - corners[0] - corners[3],
            corners[2] + corners[3] - corners[0] - corners[1],
        )
        return Kind(count, corners.mean(axis=0), np.array([right[0], down[1]]) / 2)


def look_at(grey: Picture, quad: Quad, kind: Kind, *, margin: float = MARGIN) -> Look:
    """Look at a tile for a label of this kind, the likelier way up."""
    upright = _stand(grey, quad, kind, turned=False, margin=margin)
    if upright.frame >= _FRAME_AT_ONCE:
        return upright
    turned = _stand(grey, quad, kind, turned=True, margin=margin)
    first, second = sorted((upright, turned), key=lambda look: -look.frame)
    return replace(first, other_frame=second.frame)


def look_again(look: Look) -> Look:
    """Fit the whole of the guessed word instead of its frame alone."""
    return replace(look, pose=fit_pose(look.patch, look.pose.affine, whole_template(look.guess.white)))


def _stand(grey: Picture, quad: Quad, kind: Kind, *, turned: bool, margin: float) -> Look:
    patch = cut_patch(grey, quad, kind, turned=turned, margin=margin)
    pose = find_frame(patch)
    return Look(patch, pose, pose.likeness, -1.0)
