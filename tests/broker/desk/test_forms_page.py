"""What pages with forms have in common."""

from starlette.requests import Request

from broker.desk.forms_page import lead


def test_after_a_form_the_desk_leads_on_under_the_path_that_it_is_at() -> None:
    scope = {"type": "http", "root_path": "/desk", "query_string": b"lang=fr", "headers": []}
    assert lead(Request(scope), "/orders", done="given").headers["location"] == "/desk/orders?done=given&lang=fr"
