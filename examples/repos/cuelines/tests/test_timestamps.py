import unittest

from cuelines import format_timestamp, parse_timestamp


class ParseTimestamp(unittest.TestCase):
    def test_without_a_fraction(self):
        self.assertEqual(parse_timestamp("01:05"), 65_000)

    def test_with_hours_and_thousandths(self):
        self.assertEqual(parse_timestamp("1:02:03.456"), 3_723_456)

    def test_takes_a_comma(self):
        self.assertEqual(parse_timestamp("00:01,250"), 1_250)

    def test_with_hundredths(self):
        self.assertEqual(parse_timestamp("00:12.34"), 12_340)

    def test_refuses_what_is_no_time(self):
        for text in ("", "12", "1:60", "a:bc", "00:01.2345"):
            with self.subTest(text), self.assertRaises(ValueError):
                parse_timestamp(text)


class FormatTimestamp(unittest.TestCase):
    def test_pads_every_part(self):
        self.assertEqual(format_timestamp(3_723_006), "01:02:03.006")

    def test_what_it_writes_can_be_read(self):
        for milliseconds in (0, 7, 70, 700, 59_999, 86_399_001):
            with self.subTest(milliseconds):
                self.assertEqual(parse_timestamp(format_timestamp(milliseconds)), milliseconds)

    def test_refuses_negative_times(self):
        with self.assertRaises(ValueError):
            format_timestamp(-1)
