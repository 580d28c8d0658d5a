"""The OpenAPI 3.1 document of the read interface, made from its table: `python -m broker.web.api.openapi`.

`docs/openapi.json` is what this prints; a test fails when that file is stale (`make docs` writes it again).
"""

import json
import sys
from functools import cache
from inspect import cleandoc
from typing import Any, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from broker.web.api.resources import JSON, MOST_PER_PAGE, PER_PAGE, PREFIX, RESOURCES, Page, Resource, answer_if_changed

Document = dict[str, Any]

INTRODUCTION: Final = """\
What other programs may read of an event, at the scorer's desk. A program says who it is by a token \
(`homologue event people token add`), in the header `Authorization: Bearer ...`. What is under embargo is in no answer \
to a token that is not an arbiter's. Lists come in pages. Each answer has an `ETag`: with it in `If-None-Match`, \
an answer that has not changed is 304. Within a version names and meanings stay; fields and resources may be added."""

STATUS_TEXTS: Final = {
    "400": "the desk was asked for by a name that is none of its own",
    "401": "there is no token, or it was revoked",
    "403": "the token's role may not read this",
    "404": "there is no such thing",
    "405": "another method than those that the header `Allow` names: nothing here is written",
    "429": "too many wrong tokens; `Retry-After` says when to come again",
    "500": "a fault of the desk's program, which its log tells",
}


class Refusal(msgspec.Struct):
    """Why something was not answered: a stable code, and a sentence."""

    code: str
    message: str


class RefusalAnswer(msgspec.Struct):
    """What stands in place of an answer."""

    error: Refusal


def openapi_document() -> Document:
    """Return the whole document."""
    answers = [_type_of(one) for one in RESOURCES]
    references, schemas = msgspec.json.schema_components(
        [*answers, RefusalAnswer], ref_template="#/components/schemas/{name}"
    )
    return {
        "openapi": "3.1.0",
        "info": {"title": "Homologue", "version": "1", "description": INTRODUCTION, "license": {"name": "MIT"}},
        "servers": [{"url": PREFIX}],
        "security": [{"token": []}],
        "paths": {
            one.path.replace(":int", ""): {"get": _operation(one, reference, references[-1])}
            for one, reference in zip(RESOURCES, references, strict=False)
        },
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            # Python 3.13 takes the indentation out of docstrings, earlier ones leave it in.
            "schemas": {
                name: {**schema, "description": cleandoc(schema["description"])} if "description" in schema else schema
                for name, schema in sorted(schemas.items())
            },
        },
    }


@cache
def openapi_text() -> str:
    """Return the document as it is printed: the same to the byte in every run."""
    return json.dumps(openapi_document(), indent=2, ensure_ascii=False) + "\n"


def document_route() -> Route:
    """Return the route of the document itself, which tells nothing of the event."""

    async def read(request: Request) -> Response:
        return answer_if_changed(request, openapi_text().encode())

    return Route(f"{PREFIX}/openapi.json", read)


def _type_of(resource: Resource) -> Any:  # noqa: ANN401 - a type that is made here
    return Page[resource.gives] if resource.several else resource.gives  # type: ignore[name-defined]  # as above


def _operation(resource: Resource, answer: Document, refusal: Document) -> Document:
    refusals = {code: _response(text, refusal) for code, text in STATUS_TEXTS.items() if _gives(resource, code)}
    return {
        "summary": resource.about,
        "operationId": resource.path.replace(":int", "").strip("/").replace("/{", "_").rstrip("}"),
        "parameters": [*_parameters(resource)],
        "responses": {
            "200": _response(resource.about, answer),
            "304": {"description": "what `If-None-Match` names is still the answer"},
            **refusals,
        },
        "x-right": resource.right,
    }


def _gives(resource: Resource, code: str) -> bool:
    return code != "404" or bool(resource.parameter)


def _response(about: str, schema: Document) -> Document:
    return {"description": about, "content": {JSON: {"schema": schema}}}


def _parameters(resource: Resource) -> list[Document]:
    if resource.parameter:
        kind = "integer" if ":int" in resource.path else "string"
        return [{"name": resource.parameter, "in": "path", "required": True, "schema": {"type": kind}}]
    if not resource.several:
        return []
    return [
        {"name": "page", "in": "query", "schema": {"type": "integer", "minimum": 1, "default": 1}},
        {
            "name": "per_page",
            "in": "query",
            "schema": {"type": "integer", "minimum": 1, "maximum": MOST_PER_PAGE, "default": PER_PAGE},
        },
    ]


if __name__ == "__main__":
    sys.stdout.write(openapi_text())
