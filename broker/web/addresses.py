"""Addresses of the desk's own pages: what of one stays when another is shown, and where a login leads."""

import re
from typing import Final
from urllib.parse import quote, urlencode

from starlette.requests import Request

MOST_ASKED, LONGEST_ASKED = 8, 100
"""So many words of an address stay, of so many characters: no page asks for more."""

LONGEST_TAG: Final = 16
"""Of a language."""

OWN_PAGE: Final = re.compile(r"/(?!/)[!-\[\]-~]{0,99}")
"""Printable ASCII but the backslash, which browsers take for a slash: two of these begin the name of another site."""


def kept_query(request: Request) -> dict[str, str]:
    """Return what of an address stays when the language is changed, and while a page follows the room."""
    asked = [one for one in request.query_params.items() if one[0] not in {"lang", "done"}]
    return {name[:LONGEST_ASKED]: text[:LONGEST_ASKED] for name, text in asked[:MOST_ASKED]}


def login_address(request: Request) -> str:
    """Return the login page's, with the language that was asked for and the page to go on to."""
    root, wish = request.scope.get("root_path", ""), request.query_params.get("lang", "")[:LONGEST_TAG]
    asked = own_page(f"{quote(request.url.path.removeprefix(root))}?{urlencode(kept_query(request))}".removesuffix("?"))
    kept = {"lang": wish, "page": "" if asked == "/" else asked}
    return f"{root}/login?{urlencode({name: text for name, text in kept.items() if text})}".removesuffix("?")


def own_page(address: str) -> str:
    """Return an address if it is that of a page on this desk, and on no other site; else nothing."""
    return address if OWN_PAGE.fullmatch(address) else ""
