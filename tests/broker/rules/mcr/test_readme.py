"""The example in the package's README is run."""

import re
from pathlib import Path
from typing import Any, Final

from broker.rules import mcr

README: Final = Path(mcr.__file__).with_name("README.md")


def test_the_readme_s_example_plays_a_deal_to_its_end() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(example, names)  # noqa: S102 - our own page
    assert names["play"].turns.over == "win"
