import sys

from graph import order
from targets import read_targets


def main(argv):
    with open(argv[0]) as lines:
        targets = read_targets(lines)
    try:
        for name in order(targets):
            print(name)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
