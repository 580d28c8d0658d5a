"""Sharpness, glare, light and noise on drawn trays, where each is known."""

import numpy as np
import pytest

from tests.vision.live.mount.drawn import Shot, draw, quads
from vision.live.mount.glare import measure_glare
from vision.live.mount.light import measure_light
from vision.live.mount.sharpness import edge_width

BASE = Shot(distance=400, noise=1.0)
REACH = 5


@pytest.mark.parametrize("blur", [1.5, 3.0])
def test_an_edge_is_as_wide_as_the_blur_makes_it(blur: float) -> None:
    shot = Shot(distance=200, blur=blur)  # so near that a cell is wider than the blur
    width = edge_width(draw(shot), quads(shot)[12:22], reach=12)
    assert width == pytest.approx(np.sqrt(2 * np.pi) * blur, rel=0.2)


def test_the_softer_the_picture_the_wider_its_edges() -> None:
    widths = [edge_width(draw(Shot(blur=blur, noise=1.0)), quads(BASE), REACH) for blur in (0.3, 0.8, 1.5, 2.5)]
    assert widths == sorted(widths, key=lambda width: width or 0)
    assert None not in widths


def test_backs_without_a_mark_show_no_edge() -> None:
    assert edge_width(np.full((1080, 1920, 3), 120, dtype=np.uint8), quads(BASE), REACH) is None


def test_glare_is_the_share_of_the_tiles_that_is_burnt_out() -> None:
    shot = Shot()
    middle = quads(shot)[12].mean(axis=0) / shot.size
    glare = measure_glare(draw(shot, glare=(12,)), quads(shot)[2:22:2])
    assert glare.at is not None
    assert [glare.share, glare.usual, *glare.at] == pytest.approx([0.1, 0.0, *middle], abs=0.005)


def test_without_glare_there_is_no_place_of_it() -> None:
    glare = measure_glare(draw(BASE), quads(BASE))
    assert (glare.share, glare.usual, glare.at) == (0.0, 0.0, None)


def test_too_much_light_burns_out_the_usual_tile() -> None:
    assert measure_glare(draw(Shot(light=5.0)), quads(BASE)).usual > 0.9


@pytest.mark.parametrize("noise", [2.0, 9.0])
def test_noise_is_found_beside_sharp_marks(noise: float) -> None:
    light = measure_light(draw(Shot(noise=noise)), quads(BASE))
    assert light.noise == pytest.approx(noise, rel=0.25)


def test_the_level_follows_the_light() -> None:
    full, half = (measure_light(draw(Shot(light=light)), quads(BASE)).level for light in (1.0, 0.5))
    assert half == pytest.approx(full / 2, abs=2)


@pytest.mark.parametrize("size", [(1, 1), (20, 30), (1080, 1920)])
def test_tiles_outside_of_the_picture_are_left_out(size: tuple[int, int]) -> None:
    picture = np.zeros((*size, 3), dtype=np.uint8)
    outside = [quad + 5000 for quad in quads(BASE)] + [quad - 5000 for quad in quads(BASE)]
    assert (measure_glare(picture, outside).share, edge_width(picture, outside, REACH)) == (0.0, None)
    assert (measure_light(picture, outside).level, measure_light(picture, ()).noise) == (0.0, 0.0)
