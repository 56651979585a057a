"""`neardup copies`: documents that share passages with others, most first."""

from __future__ import annotations

import json

import click

import neardup as nd
from neardup.cli.documents import documents_of
from neardup.printable import printable

__all__ = ["copies"]
