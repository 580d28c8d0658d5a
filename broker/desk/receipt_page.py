"""Receipts for players at home: open to whoever has a code, and to nobody who has to guess one."""

import time
from collections.abc import Sequence
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from broker.contract.public_address import receipt_link
from broker.contract.receipt_code import read_code
from broker.desk.access import Visitor, address
from broker.desk.errors import DeskError, SheetUnknown, TooManyMisses
from broker.desk.forms_page import lead, render
from broker.desk.misses import Misses
from broker.desk.qr import qr
from broker.desk.sheets import Sheets
from broker.scorer.sheets.receipt import ReceiptSheet


class ReceiptPage:
    """Answers players. Nobody is more than a player here, logged in or not: a code opens what it names, and no more."""

    def __init__(self, sheets: Sheets) -> None:
        self._sheets, self._misses = sheets, Misses()

    def routes(self) -> Sequence[Route]:
        """Give the routes."""
        return [Route("/receipt", self.ask), Route("/receipt/{code}", self.show)]

    async def ask(self, request: Request) -> Response:
        """Ask for a code; one that was typed has an address of its own."""
        typed = request.query_params.get("code", "").strip()
        if typed:
            code = read_code(typed) or typed[:64]
            return lead(request, f"/receipt/{quote(code, safe='')}")
        return render(request, "receipt_ask.html", "receipt", values={"typed": ""})

    async def show(self, request: Request) -> Response:
        """Show what a code stands for."""
        typed = request.path_params["code"]
        try:
            sheet = self._find(address(request), typed)
        except DeskError as error:
            return render(request, "receipt_ask.html", "receipt", error=error, values={"typed": typed[:64]})
        known = receipt_link(self._sheets.moment(Visitor()).event.plan.public_address, sheet.code)
        here = known or f"{request.base_url}receipt/{sheet.code}"
        return render(request, "receipt.html", "receipt", values={"sheet": sheet, "qr": qr(here), "link": here})

    def _find(self, who: str, typed: str) -> ReceiptSheet:
        now = time.monotonic_ns() // 1_000_000
        if wait := self._misses.wait_ms(who, now):
            raise TooManyMisses(-(-wait // 1000))
        code = read_code(typed)
        try:
            if code is None:
                raise SheetUnknown("this is no code of a receipt")
            return self._sheets.receipt(Visitor(), code)
        except SheetUnknown:
            self._misses.missed(who, now)
            raise
