from .merge import merge
from .settings import Settings

__all__ = ["Settings", "merge"]
