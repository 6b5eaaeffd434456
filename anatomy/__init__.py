"""Transformer Anatomy: the package that the course's notebooks import."""
