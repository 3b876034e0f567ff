"""Synchronised lyrics in, WebVTT captions out."""

from .cues import Cue, shift
from .lrc import parse_lrc
from .timestamps import format_timestamp, parse_timestamp
from .webvtt import to_webvtt

__all__ = ["Cue", "format_timestamp", "parse_lrc", "parse_timestamp", "shift", "to_webvtt"]
