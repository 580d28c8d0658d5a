"""Drawn backs have the right truth and the difficulties of real ones."""

from dataclasses import replace

import numpy as np
import pytest

from vision.training.backs import draw_style, shape_signs

_HEIGHT, _WIDTH, _MIDDLES = 60, 120, (1 / 6, 3 / 6, 5 / 6)


@pytest.mark.parametrize("slant", [-0.1, 0.0, 0.15, 0.3])
@pytest.mark.parametrize("stretch", [0.6, 1.0, 1.25])
def test_signs_are_where_a_shaped_line_says(slant: float, stretch: float) -> None:
    line = np.zeros((_HEIGHT, _WIDTH), dtype=np.uint8)
    for middle in _MIDDLES:
        line[:, round(middle * _WIDTH) - 2 : round(middle * _WIDTH) + 2] = 255
    style = replace(draw_style(np.random.default_rng(1)), slant=slant, stretch=stretch)
    drawn, middles = shape_signs(line, _MIDDLES, style)
    for middle in middles:
        strokes = np.flatnonzero(drawn[_HEIGHT // 2] > 100)
        assert np.abs(strokes - middle * drawn.shape[1]).min() <= 1.5
    assert drawn[:, 0].max() == drawn[:, -1].max() == 0 or not slant


def test_some_inks_hardly_differ_from_their_back_and_none_equals_it() -> None:
    chance = np.random.default_rng(2)
    contrasts = np.array([np.abs(style.ink - style.back).max() for style in (draw_style(chance) for _ in range(400))])
    assert 0.05 < (contrasts < 0.16).mean() < 0.3
    assert (contrasts > 0).all()
