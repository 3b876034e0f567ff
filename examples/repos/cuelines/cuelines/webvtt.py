"""Writes WebVTT."""

from typing import Iterable

from .cues import Cue
from .timestamps import format_timestamp


def to_webvtt(cues: Iterable[Cue]) -> str:
    """Return the captions as the text of a ``.vtt`` file."""
    return "\n".join(["WEBVTT\n", *map(_block, cues)])


def _block(cue: Cue) -> str:
    text = cue.text.replace("&", "&amp;").replace("<", "&lt;")
    return f"{format_timestamp(cue.start)} --> {format_timestamp(cue.end)}\n{text}\n"
