"""The words of labels, compared with those that zxing draws, and how they are guessed from modules."""

import cv2
import numpy as np
import pytest
import zxingcpp
from hypothesis import given
from hypothesis import strategies as st

from tests.vision.marks.drawn_labels import TEXTS, barcode
from vision.marks.label_code import (
    MODULE_COUNTS,
    Payload,
    guess_label,
    label_codebook,
    module_count,
    parse_payload,
    payload_text,
)
from vision.reading import LAST_SERIAL


def _says(white: np.ndarray) -> str:
    large = np.pad(np.kron(white * np.uint8(255), np.ones((4, 4), dtype=np.uint8)), 8, constant_values=255)
    (found,) = zxingcpp.read_barcodes(large, is_pure=True)
    return str(found.text)


@pytest.mark.parametrize("count", MODULE_COUNTS)
def test_every_word_of_a_set_equals_zxings(count: int) -> None:
    known = label_codebook(count)
    drawn = {barcode(TEXTS[count].format(8, serial)).tobytes() for serial in range(1, LAST_SERIAL + 1)}
    of_set = [at for at in range(len(known.modules)) if known.payload(at).set == 8]
    ours = {(known.modules[at] * np.uint8(255)).tobytes() for at in of_set}
    assert drawn <= ours
    assert len(of_set) == LAST_SERIAL * (2 if count == 14 else 1)


@pytest.mark.parametrize("count", MODULE_COUNTS)
def test_zxing_decodes_every_spelling_to_its_payload(count: int) -> None:
    known = label_codebook(count)
    some = range(0, len(known.modules), 61)
    payloads = [known.payload(at) for at in some]
    said = [_says(known.modules[at]) for at in some]
    assert said == [TEXTS[count].format(payload.set, payload.serial) for payload in payloads]


@pytest.mark.parametrize(("count", "apart"), [(14, 26), (12, 17), (10, 12)])
def test_words_of_different_payloads_differ_in_many_modules(count: int, apart: int) -> None:
    known = label_codebook(count)
    spelled = len(known.modules) // 13600
    for at in range(0, len(known.modules), 997):
        differ = (known.modules != known.modules[at]).sum(axis=(1, 2))
        others = np.delete(differ, [at % 13600 + 13600 * spelling for spelling in range(spelled)])
        assert others.min() >= apart


counts = st.sampled_from(MODULE_COUNTS)
seeds = st.integers(0, 2**31)


@given(counts, st.integers(0, 13599), st.floats(0, 0.9), st.floats(0, 0.2), st.floats(-1, 1), seeds)
def test_blurred_noisy_and_unevenly_lit_modules_are_guessed_right(
    count: int, word: int, blur: float, noise: float, slope: float, seed: int
) -> None:
    values = np.pad(label_codebook(count).modules[word].astype(np.float32), 1, constant_values=1)
    if blur > 0.1:
        values = np.asarray(cv2.GaussianBlur(values, (0, 0), blur), dtype=np.float32)
    values = values + np.random.default_rng(seed).normal(0, noise, values.shape).astype(np.float32) * (1 - blur)
    values += slope * np.linspace(0, 1, count + 2, dtype=np.float32)
    assert guess_label(values).payload == label_codebook(count).payload(word)


@given(counts, seeds)
def test_noise_is_like_no_word(count: int, seed: int) -> None:
    values = np.random.default_rng(seed).normal(0, 1, (count + 2, count + 2)).astype(np.float32)
    guess = guess_label(values)
    assert guess.likeness - guess.next_likeness < 0.15


@given(counts, st.integers(0, 13599), st.floats(0.01, 200), st.floats(-100, 100))
def test_brightness_and_contrast_do_not_matter(count: int, word: int, contrast: float, black: float) -> None:
    values = np.pad(label_codebook(count).modules[word].astype(np.float32), 1, constant_values=1) * contrast + black
    guess = guess_label(values.astype(np.float32))
    assert guess.payload == label_codebook(count).payload(word)
    assert guess.likeness > 0.99


@pytest.mark.parametrize("count", MODULE_COUNTS)
def test_a_mixture_of_two_words_is_equally_like_both_and_like_no_third(count: int) -> None:
    """Two spellings of one payload are not rivals, because they do not make the payload doubtful."""
    one, other = label_codebook(count).modules[[8 * 136 + 116, 35 * 136 + 4]].astype(np.float32)
    torn = guess_label(np.pad(0.52 * one + 0.48 * other, 1, constant_values=1))
    plain = guess_label(np.pad(one, 1, constant_values=1))
    assert torn.payload == plain.payload == label_codebook(count).payload(8 * 136 + 116)
    assert plain.likeness == pytest.approx(1.0, abs=1e-4)
    assert torn.likeness - torn.next_likeness == pytest.approx(0, abs=0.1)
    assert torn.next_likeness > plain.next_likeness + 0.05
    assert np.array_equal(plain.white, np.pad(one, 1, constant_values=1))


@pytest.mark.parametrize("text", ["HM1-08-117", "HM08117", "08117"])
def test_every_format_names_the_same_tile(text: str) -> None:
    assert parse_payload(text) == Payload(set=8, serial=117)


@pytest.mark.parametrize("serial", [1, 136])
def test_the_first_and_the_last_serial_are_valid(serial: int) -> None:
    assert parse_payload(f"HM1-00-{serial:03d}") == Payload(0, serial)


@pytest.mark.parametrize(
    "text",
    [
        "", "117", "08000", "08137", "HM08137", "HM1-08-000", "hm08117", "HM1-8-117", "HM2-08-117", "HM1-08-117 ",
        " 08117", "08117\n", "HM1-08-1170", "0811", "٠٨١١٧", "BOARD 07", "https://example.org", "HM1_08_117",
    ],
)  # fmt: skip
def test_other_texts_are_not_payloads(text: str) -> None:
    assert parse_payload(text) is None


@given(st.text(max_size=12))
def test_rubbish_is_refused_and_raises_nothing(text: str) -> None:
    payload = parse_payload(text)
    assert payload is None or 1 <= payload.serial <= 136


@given(st.integers(0, 99), st.integers(1, 136))
def test_the_printed_text_is_what_is_read(number: int, serial: int) -> None:
    assert parse_payload(payload_text(Payload(number, serial))) == Payload(number, serial)


@pytest.mark.parametrize(("text", "modules"), [("HM1-08-117", 14), ("HM08117", 12), ("08117", 10)])
def test_the_texts_length_determines_the_labels_size(text: str, modules: int) -> None:
    assert module_count(text) == modules
