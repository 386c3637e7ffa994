"""Files here that are there when all of their content is."""

from __future__ import annotations

import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex


@contextmanager
def whole_file(target: Path) -> Generator[Path]:
    """
    Where to write what is to be at `target`: a file beside it, which takes its place when the block ends, and is deleted
    when the block raises. A `target` that is no file, such as a pipe, is written to directly.
    """
    if target.exists() and not target.is_file():
        yield target
        return
    # A link stays: the file that it leads to is replaced.
    place = target.resolve()
    part = place.with_name(f"{place.name}.part-{token_hex(4)}")
    try:
        part.touch()
        if place.exists():
            # Before the content comes, so that nobody reads it who may not.
            shutil.copymode(place, part)
        yield part
        part.replace(place)
    finally:
        part.unlink(missing_ok=True)
