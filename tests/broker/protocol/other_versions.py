"""Messages as sent by newer and older programs."""

import json

from msgspec import NODEFAULT, Struct, structs

from broker.protocol import Message


def grown(value: object) -> object:
    """Return a value as a newer program may send it: with additional fields in every struct, but not in mappings."""
    if isinstance(value, Struct):
        fields = {field.encode_name: grown(getattr(value, field.name)) for field in structs.fields(value)}
        config = value.__struct_config__
        if config.array_like:
            return [*fields.values(), {"newest": 1.5}]
        tag = {config.tag_field: config.tag} if config.tag_field else {}
        return {"newer": {"id": [1, "\u2028", None]}} | tag | fields | {"newest": 1.5}
    if isinstance(value, dict):
        return {key: grown(one) for key, one in value.items()}
    return [grown(one) for one in value] if isinstance(value, tuple) else value


def shrunk(value: object) -> object:
    """Return a value as an older program may send it: without any optional field."""
    if isinstance(value, Struct):
        config = value.__struct_config__
        needed = [one for one in structs.fields(value) if one.default is NODEFAULT and one.default_factory is NODEFAULT]
        fields = {one.encode_name: shrunk(getattr(value, one.name)) for one in needed}
        return ({config.tag_field: config.tag} if config.tag_field else {}) | fields
    if isinstance(value, dict):
        return {key: shrunk(one) for key, one in value.items()}
    return [shrunk(one) for one in value] if isinstance(value, tuple) else value


def grown_bytes(message: Message) -> bytes:
    """Return a message as a newer program sends it."""
    return json.dumps(grown(message)).encode()
