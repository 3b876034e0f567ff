class Journal:
    """What happened, in order."""

    def __init__(self):
        self.entries = []

    def add(self, what, warehouse, item, count):
        self.entries.append((what, warehouse, item, count))

    def balance(self, item):
        sign = {"put": 1, "take": -1}
        return sum(sign[what] * count for what, _, name, count in self.entries if name == item)
