"""A cue is a text with a beginning and an end."""

from dataclasses import dataclass, replace
from typing import Iterable, List


@dataclass(frozen=True)
class Cue:
    """``start`` and ``end`` are milliseconds from the beginning of the recording."""

    start: int
    end: int
    text: str


def shift(cues: Iterable[Cue], milliseconds: int) -> List[Cue]:
    """Move all cues; what would end before the beginning is dropped, the rest is cut at it."""
    moved = (replace(cue, start=cue.start + milliseconds, end=cue.end + milliseconds) for cue in cues)
    return [replace(cue, start=max(cue.start, 0)) for cue in moved if cue.end > 0]
