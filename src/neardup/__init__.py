"""neardup finds, explains and removes duplicate and near-duplicate documents."""

__version__ = "0.1.0"
