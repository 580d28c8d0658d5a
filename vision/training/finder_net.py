"""The finder's network: a small U-shaped convolutional net, a quarter of the picture's size at its end."""

import torch
from torch import Tensor, nn

CHANNELS = 12  # back core, face core, hand, centre (2), log frame (3), four times and two times its angle (4)


def layer(inputs: int, outputs: int, stride: int = 1, spread: int = 1) -> nn.Sequential:
    """Give a 3 x 3 convolution with its normalisation."""
    convolution = nn.Conv2d(inputs, outputs, 3, stride, spread, dilation=spread, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))


class Residual(nn.Module):  # type: ignore[misc]  # torch is not installed where types are checked
    """Two layers that add to what they are given."""

    def __init__(self, width: int, spread: int = 1) -> None:
        super().__init__()
        self.first = layer(width, width, spread=spread)
        self.second = nn.Sequential(nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width))

    def forward(self, x: Tensor) -> Tensor:
        """Map a tensor to one of the same shape."""
        return torch.relu(x + self.second(self.first(x)))


class FinderNet(nn.Module):  # type: ignore[misc]  # as above
    """From BGR, shape (n, 3, h, w), about -1..1, to maps, shape (n, 12, h / 4, w / 4); h and w multiples of 16."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = layer(3, 16, 2)
        self.quarter = nn.Sequential(layer(16, 32, 2), layer(32, 32))
        self.eighth = nn.Sequential(layer(32, 48, 2), Residual(48))
        self.sixteenth = nn.Sequential(layer(48, 64, 2), Residual(64, 2), Residual(64, 4))
        self.from_sixteenth = nn.Conv2d(64, 48, 1)
        self.join_eighth = Residual(48)
        self.from_eighth = nn.Conv2d(48, 32, 1)
        self.join_quarter = layer(32, 48)
        self.end = nn.Conv2d(48, CHANNELS, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Give the maps; the first three channels are logits."""
        quarter = self.quarter(self.stem(x))
        eighth = self.eighth(quarter)
        deep = self.from_sixteenth(self.sixteenth(eighth))
        eighth = self.join_eighth(eighth + _double(deep))
        return self.end(self.join_quarter(quarter + _double(self.from_eighth(eighth))))


def _double(x: Tensor) -> Tensor:
    return nn.functional.interpolate(x, scale_factor=2.0, mode="nearest")
