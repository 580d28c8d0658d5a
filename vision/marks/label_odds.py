"""How sure a guessed label is, and when that is enough.

Two words are told apart by the odds that the picture gives them: were the differences between picture and word noise,
n modules with correlations r and s speak for the first with log-odds n/2 ln((1 - s^2) / (1 - r^2)).

The thresholds come from where there was nothing to read. Faces and printed numbers, looked at 2,346 times as if they
were labels, gave odds of 1 in the median, 9 in the worst hundredth, 20 at most, each step of 6 ten times rarer; labels
blurred beyond reading 6 at most. Labels that were read gave 37 or more in 99 of 100, with modules down to 1.5 pixels.
Carried on, that line passes 28 once in 100,000 guesses, 40 and 45 once in 10 and 80 million. A tile is guessed at once
as a rule, 15 times at most (3 guesses in each of 3 looks, 6 in a search): 28 is for the usual set alone, which chance
hits 1 time in 100.
"""

import numpy as np

from vision.marks.label_look import Look

_SAME_SET, _UNKNOWN_SET, _OTHER_SET = 28.0, 40.0, 45.0
_LEAST_LIKENESS = 0.65  # of a word that is read
_LEAST_FRAME = 0.4  # of a frame about it
_SEEN_FRAME = 0.6  # of a frame that is seen at all, and its lead over the other way up
_SEEN_LEAD = 0.2
DECODED = 0.9999
"""Confidence of a label that zxing decodes, and the most that there is."""


def odds(look: Look) -> float:
    """Give the log-odds of the guessed payload against the likeliest other one."""
    modules = (look.patch.kind.count - 2) ** 2
    best, other = (min(max(part, 0.0), DECODED) ** 2 for part in (look.guess.likeness, look.guess.next_likeness))
    return float(modules / 2 * np.log((1 - other) / (1 - best)))


def confidence(look: Look) -> float:
    """Give how sure a guess that may be read is, 0..1: more cautious than the odds, which take errors for noise."""
    return float(min(DECODED, 1 - 10 ** (-odds(look) / 10)))


def is_certain(look: Look, usual_set: int | None) -> bool:
    """Tell whether the guess may be read; `usual_set` is the set that the picture's other labels name."""
    enough = _UNKNOWN_SET if usual_set is None else _SAME_SET if look.guess.payload.set == usual_set else _OTHER_SET
    return odds(look) >= enough and look.guess.likeness >= _LEAST_LIKENESS and look.frame >= _LEAST_FRAME


def is_seen(look: Look) -> bool:
    """Tell whether a label is there, and which way up, though it says nothing."""
    return look.frame >= _SEEN_FRAME and look.frame - look.other_frame >= _SEEN_LEAD
