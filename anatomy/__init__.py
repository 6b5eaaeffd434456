"""Transformer Anatomy: the package that the course's notebooks import."""

from anatomy.hunting import hunt

__all__ = ["hunt"]
