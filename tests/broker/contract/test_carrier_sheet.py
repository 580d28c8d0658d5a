"""The code on the sheet of a carrier says which deal lies there, and nothing else is taken for one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.contract.carrier_sheet import CarrierSheet, as_text, read_sheet


@given(
    st.from_regex(r"[a-z0-9][a-z0-9-]{0,31}", fullmatch=True),
    st.integers(1, 9999),
    st.sampled_from(["", "]Q1", "SCAN "]),
    st.sampled_from(["", " ", ";"]),
)
def test_what_was_written_is_read_whatever_a_scanner_puts_around_it(
    event: str, deal: int, before: str, after: str
) -> None:
    sheet = CarrierSheet(event, deal)
    assert read_sheet(before + as_text(sheet) + after) == sheet


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
def test_anything_else_is_no_sheet(text: str) -> None:
    assert read_sheet(text) is None
