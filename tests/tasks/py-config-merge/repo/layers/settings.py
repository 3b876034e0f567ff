import json

from .defaults import DEFAULTS
from .merge import merge


class Settings:
    def __init__(self, *layers):
        self.values = DEFAULTS
        for layer in layers:
            self.values = merge(self.values, layer)

    @classmethod
    def load(cls, *paths):
        layers = []
        for path in paths:
            with open(path) as file:
                layers.append(json.load(file))
        return cls(*layers)

    def get(self, path, default=None):
        """The value at a path such as `server.port`."""
        value = self.values
        for part in path.split("."):
            if not isinstance(value, dict) or part not in value:
                return default
            value = value[part]
        return value
