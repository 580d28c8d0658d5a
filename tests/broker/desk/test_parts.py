"""What a reader of the page is sent: all of it once, then what has changed."""

import re
from itertools import pairwise
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import Environment
from msgspec.structs import replace

from broker.desk.catalogue import catalogues
from broker.desk.page import Pages
from broker.desk.parts import Rendering, Renderings
from tests.broker.desk import sample

TEMPLATE: Final = Environment(autoescape=True).from_string(
    '{% macro line(one) %}<li data-key="{{ one[0] }}">{{ one[1] }}</li>{% endmacro %}'
    "<h1>{{ title }}</h1><ul>{% for one in lines %}{{ part(one[0], one, line) }}{% endfor %}</ul>"
)

KEYED: Final = re.compile(r'<li data-key="([^"]*)"( data-same)?>(.*?)</li>')

Line = tuple[str, str]
"""Key and text."""


def render(renderings: Renderings, lines: list[Line], title: str = "") -> Rendering:
    return renderings.render("everybody", TEMPLATE, {"title": title, "lines": lines})


def laid(text: str, before: str) -> str:
    """Lay what was sent over what was shown, as desk.js does."""
    shown = {key: html for html, key in ((found[0], found[1]) for found in KEYED.finditer(before))}
    return KEYED.sub(lambda found: shown[found[1]] if found[2] else found[0], text)


rooms = st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from(["1", "<part 0>", "&"])), max_size=6)


@given(st.lists(rooms, min_size=1, max_size=4))
def test_what_is_sent_laid_over_what_was_sent_before_is_all_of_it(moments: list[list[Line]]) -> None:
    renderings = Renderings()
    made = [render(renderings, lines, str(len(lines))) for lines in moments]
    for before, after in pairwise(made):
        text = after.after(before)
        assert laid(before.whole if text is None else text, before.whole) == after.whole


def test_who_was_given_nothing_yet_is_given_all_of_it() -> None:
    assert render(Renderings(), [("a", "1")]).after(None) == '<h1></h1><ul><li data-key="a">1</li></ul>'


def test_a_line_that_did_not_change_is_named_alone() -> None:
    renderings = Renderings()
    before, now = render(renderings, [("a", "1"), ("b", "1")]), render(renderings, [("b", "1"), ("a", "2")])
    assert now.after(before) == ('<h1></h1><ul><li data-key="b" data-same></li><li data-key="a">2</li></ul>')


def test_where_nothing_changed_nothing_is_sent() -> None:
    renderings = Renderings()
    before = render(renderings, [("a", "1")])
    assert render(renderings, [("a", "1")]).after(before) is None


def test_of_two_lines_with_one_key_both_are_sent() -> None:
    renderings, lines = Renderings(), [("a", "1"), ("a", "2")]
    before = render(renderings, lines)
    assert render(renderings, lines, "later").after(before) == f"<h1>later</h1>{before.whole.partition('</h1>')[2]}"


def test_two_audiences_are_drawn_apart() -> None:
    renderings = Renderings()
    both = [
        renderings.render(number, TEMPLATE, {"title": "", "lines": [("a", str(number))]}).whole for number in (1, 2)
    ]
    assert ["<li" in html and str(number) in html for number, html in enumerate(both, 1)] == [True, True]


def test_a_part_without_a_key_is_a_fault_of_ours() -> None:
    with pytest.raises(ValueError, match="one element with a key"):
        Renderings().render("", TEMPLATE.environment.from_string("{{ part('a', 1, draw) }}"), {"draw": str})


def test_of_a_result_a_reader_is_sent_the_lines_that_it_changes() -> None:
    pages, words, view = Pages(), catalogues()["en"], sample.view()
    before = pages.rendering(view, words)
    later = sample.newer(view, plays=(replace(view.plays[0], table=4, deal=9), *view.plays))
    sent = pages.rendering(later, words).after(before) or ""
    assert (sent.count('class="play"'), sent.count("data-same")) == (1, len(before.parts))
