class StockError(Exception):
    """Base of all errors of this package."""


class UnknownWarehouse(StockError):
    def __init__(self, name):
        super().__init__(f"no warehouse {name!r}")
        self.name = name


class UnknownItem(StockError):
    def __init__(self, item, warehouse):
        super().__init__(f"no {item!r} in {warehouse!r}")


class NotEnough(StockError):
    def __init__(self, item, warehouse, has, wants):
        super().__init__(f"{warehouse!r} has {has} of {item!r}, {wants} are wanted")
        self.has = has
        self.wants = wants
