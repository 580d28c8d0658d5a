"""How a refusal is told: to a person on a page in their language, to a program by code, as the calculators do."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from broker.desk.access import Visitor, is_read
from broker.desk.errors import PageUnknown
from broker.desk.forms_page import render


def refused(request: Request, error: Exception) -> Response:
    """Answer a request that was refused with an error that has a code."""
    if is_read(request):
        return render(request, "refused.html", "refused", getattr(request.state, "visitor", Visitor()), error=error)
    code, status = getattr(error, "code", "desk_error"), getattr(error, "status", 400)
    return JSONResponse({"error": {"code": code, "message": str(error)}}, status)


def nothing_there(request: Request, _error: Exception) -> Response:
    """Answer a request for a page that there is not."""
    return refused(request, PageUnknown("there is no such page"))
