import unittest

from stock import Inventory, NotEnough, UnknownWarehouse


def make():
    return Inventory({"north": {"bolts": 100}, "south": {"nuts": 5}, "west": {}}, limits={"south": 50})


def state(inventory):
    return ({w: {i: inventory.amount(w, i) for i in ("bolts", "nuts")} for w in ("north", "south", "west")}, list(inventory.journal.entries))


class AtomicTest(unittest.TestCase):
    def refused(self, error, act):
        inventory = make()
        before = state(inventory)
        with self.assertRaises(error):
            act(inventory)
        self.assertEqual(state(inventory), before)

    def test_full_target(self):
        self.refused(OverflowError, lambda one: one.move("bolts", "north", "south", 46))

    def test_unknown_target(self):
        self.refused(UnknownWarehouse, lambda one: one.move("bolts", "north", "east", 1))

    def test_several_moves_or_none(self):
        moves = [("bolts", "north", "west", 60), ("bolts", "north", "west", 60)]
        self.refused(NotEnough, lambda one: one.move_all(moves))
        self.refused(OverflowError, lambda one: one.move_all([("bolts", "north", "west", 10), ("bolts", "north", "south", 46)]))

    def test_a_move_within_a_full_warehouse(self):
        inventory = Inventory({"south": {"nuts": 50}}, limits={"south": 50})
        inventory.move("nuts", "south", "south", 10)
        self.assertEqual(inventory.amount("south", "nuts"), 50)

    def test_later_moves_use_earlier_ones(self):
        inventory = make()
        inventory.move_all([("bolts", "north", "west", 60), ("bolts", "west", "south", 20)])
        self.assertEqual([inventory.amount(w, "bolts") for w in ("north", "west", "south")], [40, 40, 20])
        self.assertEqual(len(inventory.journal.entries), 4)


if __name__ == "__main__":
    unittest.main()
