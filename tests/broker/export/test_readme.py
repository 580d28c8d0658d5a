"""The example in the room's README is run."""

import re
from pathlib import Path
from typing import Any, Final

from broker import export

README: Final = Path(export.__file__).with_name("README.md")


def test_the_readme_s_example_plays_records_and_judges() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(example, names)  # noqa: S102 - our own page
    assert names["text"].count("[Play") == 1
