from .store import open_store

__all__ = ["open_store"]
