import numpy as np
import pytest
import zxingcpp

from tests.vision.marks.drawn_labels import TEXTS, barcode
from vision.marks.label_words import MODULE_COUNTS, words
from vision.payload import LAST_SERIAL


def _says(white: np.ndarray) -> str:
    large = np.pad(np.kron(white * np.uint8(255), np.ones((4, 4), dtype=np.uint8)), 8, constant_values=255)
    (found,) = zxingcpp.read_barcodes(large, is_pure=True)
    return str(found.text)


@pytest.mark.parametrize("count", MODULE_COUNTS)
def test_every_word_of_a_set_is_what_zxing_draws(count: int) -> None:
    known = words(count)
    drawn = {barcode(TEXTS[count].format(8, serial)).tobytes() for serial in range(1, LAST_SERIAL + 1)}
    of_set = [at for at in range(len(known.modules)) if known.payload(at).set == 8]
    ours = {(known.modules[at] * np.uint8(255)).tobytes() for at in of_set}
    assert drawn <= ours
    assert len(of_set) == LAST_SERIAL * (2 if count == 14 else 1)


@pytest.mark.parametrize("count", MODULE_COUNTS)
def test_zxing_reads_every_spelling_as_the_payload_that_it_stands_for(count: int) -> None:
    known = words(count)
    some = range(0, len(known.modules), 61)
    payloads = [known.payload(at) for at in some]
    said = [_says(known.modules[at]) for at in some]
    assert said == [TEXTS[count].format(payload.set, payload.serial) for payload in payloads]


@pytest.mark.parametrize(("count", "apart"), [(14, 26), (12, 17), (10, 12)])
def test_words_of_different_payloads_differ_in_many_modules(count: int, apart: int) -> None:
    known = words(count)
    spelled = len(known.modules) // 13600
    for at in range(0, len(known.modules), 997):
        differ = (known.modules != known.modules[at]).sum(axis=(1, 2))
        others = np.delete(differ, [at % 13600 + 13600 * spelling for spelling in range(spelled)])
        assert others.min() >= apart
