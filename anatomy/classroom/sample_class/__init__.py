"""A made-up class whose true marks are known: for the demonstration, the tests and the benchmarks.

Its students have numbers, not names. Their answers are right, right in another style, mistaken in a known way or not
written; some submissions are broken in ways that happen.
"""

from anatomy.classroom.sample_class.filling import filled
from anatomy.classroom.sample_class.removing import NotASample, remove_sample_class
from anatomy.classroom.sample_class.writing import SampleClass, write_sample_class

__all__ = ["NotASample", "SampleClass", "filled", "remove_sample_class", "write_sample_class"]
