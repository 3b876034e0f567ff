import argparse
import sys

from .parse import read_requests
from .report import as_text
from .summary import summarise


def main(argv, out=sys.stdout):
    parser = argparse.ArgumentParser(prog="reqlog")
    parser.add_argument("file")
    parser.add_argument("--top", type=int, default=5, help="how many paths to list")
    options = parser.parse_args(argv)
    with open(options.file) as lines:
        requests, bad = read_requests(lines)
    print(as_text(summarise(requests, bad, options.top)), file=out)
    return 0
