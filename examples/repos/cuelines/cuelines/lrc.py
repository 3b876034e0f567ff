"""Reads LRC: one line of lyrics per line, with time tags in front."""

import re
from typing import List, Tuple

from .cues import Cue, shift
from .timestamps import parse_timestamp

LAST_CUE_MS = 5000

_TAG = re.compile(r"\[([^\]]*)\]")
_TIME = re.compile(r"\d+:\d.*")
_OFFSET = re.compile(r"offset:\s*([+-]?\d+)", re.IGNORECASE)


def parse_lrc(text: str) -> List[Cue]:
    """Return the cues of a file, in order of time. Lines without a time tag are ignored."""
    lines: List[Tuple[int, str]] = []
    offset = 0
    for line in text.lstrip("\ufeff").splitlines():
        tags, words = _split(line.strip())
        for tag in tags:
            setting = _OFFSET.fullmatch(tag)
            if setting:
                offset = int(setting[1])
            elif _TIME.fullmatch(tag):
                lines.append((parse_timestamp(tag), words))
    lines.sort(key=lambda line: line[0])
    return shift(_with_ends(lines), -offset)


def _split(line: str) -> Tuple[List[str], str]:
    """Separate the tags in front of a line from its words."""
    tags = []
    match = _TAG.match(line)
    while match:
        tags.append(match[1].strip())
        line = line[match.end() :]
        match = _TAG.match(line)
    return tags, line.strip()


def _with_ends(lines: List[Tuple[int, str]]) -> List[Cue]:
    ends = [start for start, _ in lines[1:]] + [lines[-1][0] + LAST_CUE_MS] if lines else []
    cues = (Cue(start, end, words) for (start, words), end in zip(lines, ends))
    # An empty line only ends the one before it.
    return [cue for cue in cues if cue.text]
