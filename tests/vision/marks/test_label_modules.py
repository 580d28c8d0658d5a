import cv2
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vision.marks.label_modules import guess_word
from vision.marks.label_words import MODULE_COUNTS, words

counts = st.sampled_from(MODULE_COUNTS)
seeds = st.integers(0, 2**31)


@given(counts, st.integers(0, 13599), st.floats(0, 0.9), st.floats(0, 0.2), st.floats(-1, 1), seeds)
def test_modules_that_are_blurred_noisy_and_under_glare_are_guessed_right(
    count: int, word: int, blur: float, noise: float, slope: float, seed: int
) -> None:
    values = np.pad(words(count).modules[word].astype(np.float32), 1, constant_values=1)
    if blur > 0.1:
        values = np.asarray(cv2.GaussianBlur(values, (0, 0), blur), dtype=np.float32)
    values = values + np.random.default_rng(seed).normal(0, noise, values.shape).astype(np.float32) * (1 - blur)
    values += slope * np.linspace(0, 1, count + 2, dtype=np.float32)
    assert guess_word(values).payload == words(count).payload(word)


@given(counts, seeds)
def test_noise_is_like_no_word(count: int, seed: int) -> None:
    values = np.random.default_rng(seed).normal(0, 1, (count + 2, count + 2)).astype(np.float32)
    guess = guess_word(values)
    assert guess.likeness - guess.next_likeness < 0.15


@given(counts, st.integers(0, 13599), st.floats(0.01, 200), st.floats(-100, 100))
def test_how_bright_and_how_strong_the_print_is_does_not_matter(
    count: int, word: int, contrast: float, black: float
) -> None:
    values = np.pad(words(count).modules[word].astype(np.float32), 1, constant_values=1) * contrast + black
    guess = guess_word(values.astype(np.float32))
    assert guess.payload == words(count).payload(word)
    assert guess.likeness > 0.99
