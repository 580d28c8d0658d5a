"""Forms and the numbers of tables in them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request

from broker.protocol import LAST_TABLE
from broker.web import redirect
from broker.web.errors import TablesUnreadable
from broker.web.forms import as_ranges, read_tables


def test_after_a_form_the_desk_leads_on_under_the_path_that_it_is_at() -> None:
    scope = {"type": "http", "root_path": "/desk", "query_string": b"lang=fr", "headers": []}
    assert redirect(Request(scope), "/orders", done="given").headers["location"] == "/desk/orders?done=given&lang=fr"


@given(st.sets(st.integers(1, LAST_TABLE), max_size=200), st.sampled_from([", ", ",", " "]))
def test_tables_that_are_written_are_read_as_they_were(tables: set[int], between: str) -> None:
    assert read_tables(as_ranges(tables, between)) == sorted(tables)


def test_only_three_and_more_that_follow_each_other_are_a_range() -> None:
    assert as_ranges([9, 1, 2, 4, 5, 6]) == "1, 2, 4-6, 9"


@pytest.mark.parametrize("text", ["1 x", "0", "5-2", "1-", "-3", "10000", "1-9999 1-9999", "1-2-3", "٣", "1.5"])
def test_what_is_no_table_is_refused(text: str) -> None:
    with pytest.raises(TablesUnreadable):
        read_tables(text)


def test_people_write_them_as_they_are_used_to() -> None:
    assert read_tables(" 3,1;2、5\N{EN DASH}7，9 ") == [3, 1, 2, 5, 6, 7, 9]
