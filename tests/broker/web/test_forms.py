"""Forms: redirects, and parsing of table numbers and ranges."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request

from broker.protocol import LAST_TABLE
from broker.web import redirect
from broker.web.errors import TablesUnreadable
from broker.web.forms import as_ranges, read_tables


def test_a_redirect_keeps_the_root_path_and_language() -> None:
    scope = {"type": "http", "root_path": "/desk", "query_string": b"lang=fr", "headers": []}
    assert redirect(Request(scope), "/orders", done="given").headers["location"] == "/desk/orders?done=given&lang=fr"


@given(st.sets(st.integers(1, LAST_TABLE), max_size=200), st.sampled_from([", ", ",", " "]))
def test_written_table_ranges_are_read_back_unchanged(tables: set[int], between: str) -> None:
    assert read_tables(as_ranges(tables, between)) == sorted(tables)


def test_only_three_or_more_consecutive_tables_form_a_range() -> None:
    assert as_ranges([9, 1, 2, 4, 5, 6]) == "1, 2, 4-6, 9"


@pytest.mark.parametrize("text", ["1 x", "0", "5-2", "1-", "-3", "10000", "1-9999 1-9999", "1-2-3", "٣", "1.5"])
def test_invalid_table_numbers_are_refused(text: str) -> None:
    with pytest.raises(TablesUnreadable):
        read_tables(text)


def test_table_numbers_may_use_any_usual_separator() -> None:
    assert read_tables(" 3,1;2、5\N{EN DASH}7，9 ") == [3, 1, 2, 5, 6, 7, 9]
