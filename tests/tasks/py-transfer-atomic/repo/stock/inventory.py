from .errors import NotEnough, UnknownItem, UnknownWarehouse
from .journal import Journal


class Inventory:
    """Amounts of items by warehouse. Each change is in the journal."""

    def __init__(self, warehouses, limits=None, journal=None):
        self._amounts = {name: dict(items) for name, items in warehouses.items()}
        self._limits = dict(limits or {})
        self.journal = journal or Journal()

    def amount(self, warehouse, item):
        return self._items(warehouse).get(item, 0)

    def total(self, item):
        return sum(items.get(item, 0) for items in self._amounts.values())

    def take(self, warehouse, item, count):
        items = self._items(warehouse)
        if item not in items:
            raise UnknownItem(item, warehouse)
        if items[item] < count:
            raise NotEnough(item, warehouse, items[item], count)
        items[item] -= count
        self.journal.add("take", warehouse, item, count)

    def put(self, warehouse, item, count):
        items = self._items(warehouse)
        limit = self._limits.get(warehouse)
        if limit is not None and sum(items.values()) + count > limit:
            raise OverflowError(f"{warehouse!r} holds at most {limit}")
        items[item] = items.get(item, 0) + count
        self.journal.add("put", warehouse, item, count)

    def move(self, item, source, target, count):
        """Moves items from one warehouse to another."""
        self.take(source, item, count)
        self.put(target, item, count)

    def move_all(self, moves):
        """Makes several moves: all of them or none."""
        for item, source, target, count in moves:
            self.move(item, source, target, count)

    def _items(self, warehouse):
        if warehouse not in self._amounts:
            raise UnknownWarehouse(warehouse)
        return self._amounts[warehouse]
