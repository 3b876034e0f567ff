import io
import unittest

from reqlog.cli import main
from reqlog.parse import read_requests


class ReqlogTest(unittest.TestCase):
    def test_reads(self):
        requests, bad = read_requests(["GET / 200 1\n", "what\n", "\n"])
        self.assertEqual((len(requests), bad), (1, 1))

    def test_text(self):
        out = io.StringIO()
        main(["tests/small.log", "--top", "1"], out)
        self.assertEqual(out.getvalue().split("\n")[:4], ["requests  4", "bad lines 1", "errors    1", "       2 /a"])
