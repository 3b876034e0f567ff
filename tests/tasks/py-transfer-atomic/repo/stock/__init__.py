from .errors import NotEnough, UnknownItem, UnknownWarehouse
from .inventory import Inventory

__all__ = ["Inventory", "NotEnough", "UnknownItem", "UnknownWarehouse"]
