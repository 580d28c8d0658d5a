"""What the network tells apart: what lies in a crop, and digits as they are seen.

Each digit is seen for itself, before anybody knows which way up the number stands.
0 and 8 are the same upside down, 6 and 9 are each other; 1 2 3 4 5 7 show which way up they stand (1 in most fonts).
So there are 16 things that a sign can look like: 0 to 9 upright, then 1 2 3 4 5 7 upside down.
"""

import numpy as np

KINDS = 5
NUMBER, LABEL, BLANK, FACE, NOTHING = range(KINDS)  # BLANK: a back on which no mark is to be seen

SEEN = 16
UPRIGHT = np.arange(10)  # what digit 0..9 looks like upright
UPSIDE_DOWN = np.array([0, 10, 11, 12, 13, 14, 9, 15, 8, 6])  # and upside down
ONES = [1, 10]  # a 1, either way up: in some fonts it is a plain stroke
TURNED = np.array(
    [0, 10, 11, 12, 13, 14, 9, 15, 8, 6, 1, 2, 3, 4, 5, 7]
)  # what becomes of each thing seen, half a turn on

# Which digit a thing seen means, shape (16, 10), once the way up is known: 1 2 3 4 5 7 mean the same either way,
# for some fonts draw a 1 that shows no way up, and then half of the share goes to each.
MEANT = np.zeros((SEEN, 10), dtype=np.float32)
for _digit in range(10):
    MEANT[[_digit, UPSIDE_DOWN[_digit]] if _digit not in {6, 9} else [_digit], _digit] = 1
UPSIDE_DOWN_MEANT = np.array([0, 1, 2, 3, 4, 5, 9, 7, 8, 6])  # which column of it, in a number that is upside down
