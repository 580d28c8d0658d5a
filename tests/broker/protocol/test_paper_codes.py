"""Codes on paper: a carrier's sheet identifies its deal, and a receipt code proves what was confirmed."""

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.protocol import (
    Call,
    CarrierCode,
    LogMessage,
    carrier_code_text,
    confirmed_text,
    decode,
    encode,
    read_carrier_code,
    read_receipt_code,
    receipt_code,
    receipt_digest,
)
from broker.protocol.paper_codes import CODE_ALPHABET
from tests.broker.scorer.small import OUTCOMES, fact, result


@given(
    st.from_regex(r"[a-z0-9][a-z0-9-]{0,31}", fullmatch=True),
    st.integers(1, 9999),
    st.sampled_from(["", "]Q1", "SCAN "]),
    st.sampled_from(["", " ", ";"]),
)
def test_a_carrier_code_is_read_despite_a_scanners_prefix_and_suffix(
    event: str, deal: int, before: str, after: str
) -> None:
    sheet = CarrierCode(event, deal)
    assert read_carrier_code(before + carrier_code_text(sheet) + after) == sheet


@pytest.mark.parametrize(
    "text",
    [
        "",
        "HM1-01-117",
        "homologue:deal:cup:",
        "homologue:deal:cup:0",
        "homologue:deal:cup:07",
        "homologue:deal:cup:12345",
        "homologue:deal:cup:٧",
        "homologue:deal:Cup:7",
        f"homologue:deal:{'c' * 33}:7",
        "xhomologue:deal:cup:7",
        "homologue:round:cup:7",
    ],
)
def test_other_texts_are_not_carrier_codes(text: str) -> None:
    assert read_carrier_code(text) is None


results = st.builds(
    lambda table, round_, outcome, number: fact(table, 1, result(table, round_, outcome), id_=f"{number:032x}"),
    st.integers(1, 4),
    st.integers(1, 4),
    st.sampled_from(OUTCOMES),
    st.integers(0, 2**122),
)


@given(results)
def test_table_and_scorer_compute_the_same_receipt_code(message: LogMessage) -> None:
    assert receipt_code(decode(LogMessage, encode(message))) == receipt_code(message)


@given(results, results)
def test_different_results_have_different_codes(one: LogMessage, other: LogMessage) -> None:
    assert (receipt_code(one) == receipt_code(other)) == (confirmed_text(one) == confirmed_text(other))


@given(results, st.integers(0, 10**12), st.integers(1, 1000))
def test_clock_and_number_of_a_fact_do_not_affect_its_code(message: LogMessage, at: int, seq: int) -> None:
    assert receipt_code(replace(message, at=at, seq=seq)) == receipt_code(message)


@given(results)
def test_a_code_can_be_checked_with_common_tools(message: LogMessage) -> None:
    digest = hashlib.sha256(confirmed_text(message).encode()).hexdigest()
    bits = "".join(f"{CODE_ALPHABET.index(one):05b}" for one in receipt_code(message).replace("-", ""))
    assert (digest, f"{int(bits, 2):020x}") == (receipt_digest(message), digest[:20])
    assert json.loads(confirmed_text(message))["table"] == message.table


@given(results)
def test_a_code_is_read_as_people_type_it(message: LogMessage) -> None:
    code = receipt_code(message)
    typed = code.lower().replace("-", " ").replace("0", "o").replace("1", "l")
    assert read_receipt_code(typed) == read_receipt_code(code) == code


@pytest.mark.parametrize(
    "typed", ["", "ABCD", "ABCD-EFGH-JKMN-PQR!", "ABCD-EFGH-JKMN-PQRSU", "é" * 16, "A" * 100, "U" * 16]
)
def test_an_invalid_code_is_none(typed: str) -> None:
    assert read_receipt_code(typed) is None


def test_only_a_result_has_a_code() -> None:
    with pytest.raises(TypeError):
        receipt_code(fact(1, 1, Call(round=1, deal=1, open=True)))
