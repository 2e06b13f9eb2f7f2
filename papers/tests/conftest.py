"""What the papers' tests share with the package's."""

from tests.conftest import data_folder

__all__ = ["data_folder"]
