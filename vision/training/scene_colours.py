"""Colours at random: any at all, and more often those that tiles, tables and people really have. BGR, 0..255."""

import colorsys

import numpy as np
from numpy.typing import NDArray

Colour = NDArray[np.float64]  # shape (3,), BGR


def any_colour(rng: np.random.Generator) -> Colour:
    """Give any colour, greys and darks as likely as bright ones."""
    saturation = float(rng.choice([rng.uniform(0, 0.15), rng.uniform(0, 1)]))
    return _from_hsv(rng.random(), saturation, float(rng.uniform(0.05, 1.0)))


def plastic(rng: np.random.Generator) -> Colour:
    """Give the colour of a tile's plastic."""
    kind = rng.integers(5)
    if kind == 0:
        return ivory(rng)
    if kind == 1:
        return _from_hsv(rng.random(), float(rng.uniform(0, 0.2)), float(rng.uniform(0.03, 0.25)))
    if kind == 2:
        return _from_hsv(float(rng.uniform(0.25, 0.65)), float(rng.uniform(0.3, 1)), float(rng.uniform(0.15, 0.9)))
    if kind == 3:
        return _from_hsv(float(rng.uniform(0.05, 0.16)), float(rng.uniform(0.2, 0.8)), float(rng.uniform(0.4, 1)))
    return any_colour(rng)


def ivory(rng: np.random.Generator) -> Colour:
    """Give a white: a face's, a label's, a pale back's."""
    return _from_hsv(float(rng.uniform(0.05, 0.2)), float(rng.uniform(0, 0.3)), float(rng.uniform(0.72, 1.0)))


def skin(rng: np.random.Generator) -> Colour:
    """Give a colour of skin, from the darkest to the lightest."""
    return _from_hsv(float(rng.uniform(0.0, 0.1)), float(rng.uniform(0.2, 0.7)), float(rng.uniform(0.18, 1.0)))


def near(rng: np.random.Generator, colour: Colour, spread: float) -> Colour:
    """Give a colour near another one."""
    return np.asarray(np.clip(colour + rng.normal(0, spread, 3), 0, 255))


def ink_on(rng: np.random.Generator, ground: Colour) -> Colour:
    """Give an ink that can be told from its ground, if only just."""
    for _ in range(8):
        ink = any_colour(rng)
        if float(np.abs(ink - ground).max()) > 45:
            return ink
    return np.asarray(255.0 - ground)


def _from_hsv(hue: float, saturation: float, value: float) -> Colour:
    red, green, blue = colorsys.hsv_to_rgb(hue % 1, saturation, value)
    return np.array([blue, green, red]) * 255.0
