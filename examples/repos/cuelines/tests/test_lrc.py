import unittest

from cuelines import Cue, parse_lrc, shift, to_webvtt

SONG = """\
[ar:Nobody]
[ti:A Song]
[00:01.05]First line
[00:03.50][00:08.50]Refrain
[00:05.90]
"""


class ParseLrc(unittest.TestCase):
    def test_a_cue_lasts_until_the_next(self):
        cues = parse_lrc("[00:01]one\n[00:02]two\n")
        self.assertEqual(cues, [Cue(1000, 2000, "one"), Cue(2000, 7000, "two")])

    def test_hundredths_and_repeated_lines(self):
        self.assertEqual(
            parse_lrc(SONG),
            [
                Cue(1050, 3500, "First line"),
                Cue(3500, 5900, "Refrain"),
                Cue(8500, 13_500, "Refrain"),
            ],
        )

    def test_the_offset_of_a_file_makes_it_earlier(self):
        self.assertEqual(parse_lrc("[offset:+500]\n[00:02]one\n"), [Cue(1500, 6500, "one")])

    def test_nothing_in_nothing_out(self):
        self.assertEqual(parse_lrc("\ufeff[ar:Nobody]\n"), [])


class Shift(unittest.TestCase):
    def test_cuts_at_the_beginning(self):
        cues = [Cue(0, 400, "gone"), Cue(400, 900, "cut"), Cue(900, 1200, "moved")]
        self.assertEqual(shift(cues, -500), [Cue(0, 400, "cut"), Cue(400, 700, "moved")])


class ToWebvtt(unittest.TestCase):
    def test_a_whole_file(self):
        expected = "WEBVTT\n\n00:00:01.000 --> 00:00:02.000\nQ &amp; A\n"
        self.assertEqual(to_webvtt([Cue(1000, 2000, "Q & A")]), expected)


if __name__ == "__main__":
    unittest.main()
