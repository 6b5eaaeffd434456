"""Transformer Anatomy: the package that the course's notebooks import."""

from anatomy.assembling import assemble
from anatomy.hunting import hunt

__all__ = ["assemble", "hunt"]
