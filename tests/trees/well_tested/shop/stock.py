"""What is on the shelves."""


class Stock:
    def __init__(self):
        self.items = {}

    def add(self, name, count):
        if count <= 0:
            raise ValueError("count")
        self.items[name] = self.items.get(name, 0) + count

    def take(self, name, count):
        left = self.items.get(name, 0) - count
        if left < 0:
            raise KeyError(name)
        self.items[name] = left
        return left

    def names(self):
        return sorted(name for name, count in self.items.items() if count > 0)
