import contextlib
import io
import json
import os
import tempfile
import unittest

from reqlog.cli import main


def run(*argv):
    out = io.StringIO()
    code = main(list(argv), out)
    return code, out.getvalue()


def log_of(values):
    file = tempfile.NamedTemporaryFile("w", suffix=".log", delete=False)
    with file:
        file.writelines(f"GET /x 200 {value}\n" for value in values)
    return file.name


def percentiles(values):
    path = log_of(values)
    try:
        return json.loads(run(path, "--json")[1])["ms"]
    finally:
        os.unlink(path)


class HiddenTest(unittest.TestCase):
    def test_nearest_rank(self):
        self.assertEqual(percentiles(range(100, 0, -1)), {"p50": 50, "p95": 95, "p99": 99})
        self.assertEqual(percentiles([5]), {"p50": 5, "p95": 5, "p99": 5})
        self.assertEqual(percentiles([3, 1, 2, 4]), {"p50": 2, "p95": 4, "p99": 4})
        self.assertEqual(percentiles(range(1, 21)), {"p50": 10, "p95": 19, "p99": 20})

    def test_no_requests(self):
        self.assertEqual(percentiles([]), {"p50": None, "p95": None, "p99": None})
        path = log_of([])
        code, text = run(path)
        self.assertEqual(code, 0)
        self.assertIn("requests  0", text)

    def test_json_has_the_whole_summary(self):
        code, text = run("tests/small.log", "--json", "--top", "1")
        self.assertEqual(code, 0)
        value = json.loads(text)
        self.assertEqual(value["requests"], 4)
        self.assertEqual(value["bad_lines"], 1)
        self.assertEqual(value["errors"], 1)
        self.assertEqual(value["top"], [["/a", 2]])
        self.assertEqual(value["ms"], {"p50": 12, "p95": 100, "p99": 100})

    def test_text_has_the_percentiles(self):
        lines = run("tests/small.log")[1].split("\n")
        self.assertEqual(lines[:3], ["requests  4", "bad lines 1", "errors    1"])
        self.assertEqual(lines[3:6], ["p50       12 ms", "p95       100 ms", "p99       100 ms"])
