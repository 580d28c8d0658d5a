"""The network that reads printed numbers: a trunk, then one look for each sign, then what the sign is."""

import torch
from torch import nn

from vision.marks.signs import KINDS, SEEN

SIGNS = 4  # letter, three digits
LETTERS = 27  # A to Z, none
_WIDE = 96


def _conv(before: int, after: int, size: int = 3, step: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(before, after, size, step, size // 2, bias=False), nn.BatchNorm2d(after), nn.ReLU(inplace=True)
    )


class _Twice(nn.Module):  # type: ignore[misc]  # torch is not installed where types are checked
    """Two convolutions and a way past them."""

    def __init__(self, wide: int) -> None:
        super().__init__()
        self.first = _conv(wide, wide)
        self.second = nn.Sequential(nn.Conv2d(wide, wide, 3, 1, 1, bias=False), nn.BatchNorm2d(wide))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x + self.second(self.first(x)))


class DigitsNet(nn.Module):  # type: ignore[misc]  # as above
    """From crops, shape (n, 3, 112, 80), to raw scores: kind (n, 5), way up (n, 2), letter (n, 27), signs (n, 48).

    `where`, shape (n, 4, 140), is how the four looks spread over the 14 by 10 cells of the crop.
    """

    def __init__(self) -> None:
        super().__init__()
        self.trunk = nn.Sequential(
            _conv(3, 24, 5, 2),
            _conv(24, 32, 3, 2),
            _Twice(32),
            _conv(32, 64, 3, 2),
            _Twice(64),
            _Twice(64),
            _conv(64, _WIDE),
        )
        self.look = nn.Conv2d(_WIDE, SIGNS, 1)
        self.whole = nn.Sequential(_conv(_WIDE, 48, 3, 2), nn.Flatten(), nn.Linear(48 * 35, 64), nn.ReLU(inplace=True))
        self.answer = nn.Linear(64, KINDS + 2)
        self.letter = nn.Sequential(nn.Linear(_WIDE + 64, 96), nn.ReLU(inplace=True), nn.Linear(96, LETTERS))
        self.digit = nn.Sequential(nn.Linear(_WIDE + 64, 128), nn.ReLU(inplace=True), nn.Linear(128, SEEN))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Give raw scores, and where each sign was looked for."""
        features = self.trunk(x)
        where = torch.softmax(self.look(features).reshape(-1, SIGNS, 140), dim=2)
        looked = torch.matmul(where, features.reshape(-1, _WIDE, 140).transpose(1, 2))
        whole = self.whole(features)
        signs = [torch.cat([looked[:, sign], whole], dim=1) for sign in range(SIGNS)]
        scores = [self.answer(whole), self.letter(signs[0]), *(self.digit(sign) for sign in signs[1:])]
        return torch.cat(scores, dim=1), where
