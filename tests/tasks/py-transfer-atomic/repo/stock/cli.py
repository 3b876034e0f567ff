import json
import sys

from .errors import StockError
from .inventory import Inventory


def main(argv):
    if len(argv) != 6 or argv[1] != "move":
        print("usage: FILE move ITEM SOURCE TARGET COUNT", file=sys.stderr)
        return 2
    path, _, item, source, target, count = argv
    with open(path) as file:
        data = json.load(file)
    inventory = Inventory(data["warehouses"], data.get("limits"))
    try:
        inventory.move(item, source, target, int(count))
    except (StockError, OverflowError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{target}: {inventory.amount(target, item)} {item}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
