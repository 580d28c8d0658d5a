"""Every line of a stream is answered, whatever the lines before it are."""

import json
from typing import Final

import pytest

from broker.cli.rules_input import LONGEST_LINE
from tests.broker.cli.asking import ask, ask_bytes, code

ASKED: Final = b'{"difference":"8.6"}'
ANSWER: Final = {"imp": 3}


@pytest.mark.parametrize("said", [b"", b"\n", b"\r\n\r\n", b" \t \n\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"])
def test_empty_input_gives_no_answer(said: bytes) -> None:
    assert ask_bytes("imp", said) == []


@pytest.mark.parametrize(
    "said",
    [
        ASKED + b"\n" + ASKED + b"\n",
        ASKED + b"\n" + ASKED,
        ASKED + b"\r\n" + ASKED + b"\r\n",
        b"\n\n" + ASKED + b"\n \n" + ASKED + b"\n\n",
        b"\xef\xbb\xbf" + ASKED + b"\n" + ASKED + b"\n",
        b"\xef\xbb\xbf" + ASKED + b"\r\n\xef\xbb\xbf" + ASKED + b"\r\n",
        b"  " + ASKED + b"  \n\t" + ASKED + b"\t\n",
    ],
    ids=["lines", "no newline at the end", "CRLF", "blank lines", "BOM", "BOM twice", "indented"],
)
def test_two_lines_are_two_questions_whatever_their_line_ends_and_white_space(said: bytes) -> None:
    assert ask_bytes("imp", said) == [ANSWER, ANSWER]


@pytest.mark.parametrize(
    "rubbish",
    [
        b"?",
        b"{",
        b"null",
        b'"' + b"x" * 1000,
        b"\xff\xfe\x00",
        b"\x00",
        b"\xed\xa0\x80",
        b"[" * 100_000,
        b'{"difference":' + b"[" * 5000 + b"]" * 5000 + b"}" + b"}",
        ASKED + ASKED,
        ASKED[:-1],
        "\N{LINE SEPARATOR}{}".encode(),
        b"\x0b",
    ],
    ids=lambda rubbish: ascii(rubbish[:20]),
)
def test_rubbish_affects_only_its_own_line(rubbish: bytes) -> None:
    answers = ask_bytes("imp", b"\n".join([ASKED, rubbish, ASKED]))
    if rubbish.strip(b"\x0b"):
        assert [answers[0], answers[2]] == [ANSWER, ANSWER]
        assert code(answers[1]) == "malformed"
    else:
        assert answers == [ANSWER, ANSWER]


def test_a_line_of_the_maximum_length_is_answered_and_a_longer_one_is_refused() -> None:
    padding = LONGEST_LINE - len(ASKED) - 1
    longest = ASKED + b" " * padding + b"\n"
    assert ask_bytes("imp", longest + ASKED) == [ANSWER, ANSWER]
    answers = ask_bytes("imp", b" " + longest + ASKED)
    assert code(answers[0]) == "too_large"
    assert answers[1] == ANSWER


def test_ten_thousand_lines_are_answered_in_order() -> None:
    asked = [{"difference": str(number)} if number % 100 else "?" for number in range(10_000)]
    answers = ask("imp", *asked)
    assert len(answers) == 10_000
    assert [number for number, answer in enumerate(answers) if "error" in answer] == list(range(0, 10_000, 100))
    assert answers[401] == {"imp": 24}


def test_an_error_message_may_quote_any_script() -> None:
    (answer,) = ask("imp", json.dumps({"difference": "八"}, ensure_ascii=False))
    assert answer == {"error": {"code": "not_a_number", "message": "'八' is neither a decimal nor a fraction"}}


def test_a_line_that_is_far_too_long_is_refused_and_the_next_one_is_answered() -> None:
    answers = ask("imp", '{"difference": "' + "9" * 9_000_000 + '"}', '{"difference": 9}')
    assert [answer["error"]["code"] for answer in answers[:1]] == ["too_large"]
    assert answers[1:] == [{"imp": 3}]
