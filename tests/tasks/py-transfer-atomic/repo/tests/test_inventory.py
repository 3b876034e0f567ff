import unittest

from stock import Inventory, NotEnough, UnknownItem, UnknownWarehouse


def make():
    return Inventory({"north": {"bolts": 100}, "south": {"nuts": 5}}, limits={"south": 50})


class InventoryTest(unittest.TestCase):
    def test_moves(self):
        inventory = make()
        inventory.move("bolts", "north", "south", 40)
        self.assertEqual(inventory.amount("north", "bolts"), 60)
        self.assertEqual(inventory.amount("south", "bolts"), 40)

    def test_refuses_what_is_not_there(self):
        with self.assertRaises(NotEnough):
            make().move("bolts", "north", "south", 101)
        with self.assertRaises(UnknownItem):
            make().move("screws", "north", "south", 1)
        with self.assertRaises(UnknownWarehouse):
            make().move("bolts", "east", "south", 1)

    def test_total(self):
        self.assertEqual(make().total("bolts"), 100)

    def test_limit(self):
        with self.assertRaises(OverflowError):
            make().put("south", "nuts", 46)


if __name__ == "__main__":
    unittest.main()
