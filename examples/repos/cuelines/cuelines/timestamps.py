"""Times as text: ``mm:ss.xx`` in lyrics, ``hh:mm:ss.xxx`` in captions."""

import re

_TIMESTAMP = re.compile(
    r"""
    (?:(?P<hours>\d+):)?
    (?P<minutes>\d{1,2}):
    (?P<seconds>[0-5]\d)
    (?:[.,](?P<fraction>\d{1,3}))?
    """,
    re.VERBOSE,
)


def parse_timestamp(text: str) -> int:
    """Return the milliseconds that ``text`` stands for.

    Hours and the fraction may be missing. The fraction has one to three digits:
    lyrics usually have hundredths, captions thousandths.

    Raises ValueError when ``text`` is not a time.
    """
    match = _TIMESTAMP.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"not a time: {text!r}")
    hours = int(match["hours"] or 0)
    minutes = int(match["minutes"])
    seconds = int(match["seconds"])
    milliseconds = int(match["fraction"] or 0)
    return ((hours * 60 + minutes) * 60 + seconds) * 1000 + milliseconds


def format_timestamp(milliseconds: int) -> str:
    """Return ``milliseconds`` as WebVTT writes them: ``hh:mm:ss.xxx``."""
    if milliseconds < 0:
        raise ValueError(f"a caption cannot start before the beginning: {milliseconds} ms")
    seconds, thousandths = divmod(milliseconds, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02d}:{minutes:02d}:{seconds:02d}.{thousandths:03d}"
