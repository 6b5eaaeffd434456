"""Transformer Anatomy: the package that the course's notebooks import.

exercises, reference, variants, misconceptions   what is asked, what is right, what is also right, what goes wrong
observing, judging, reading, cards, checking     from an answer in a notebook to the card that says what it does
grading, forked_kernels, sample_class            a class's submissions; the kernels they run in; a class to try it on
serving, releasing, class_edition                the judge as a service, and the course without its answers
assembling, hunting                              a student's answers as one module; the bug hunt
authoring, notebook_files                        the notebooks: how they are built and checked, read, written and run
views, datasets, checkpoints                     what they show and what they read
cli, doctor                                      the `anatomy` command; what this machine lacks

A new exercise, mistake or right answer goes into its notebook's module (`softmax.py` for 03) in the rooms of the first
line; a new kind of explanation into `judging`, a grading step into `grading/preprocessors`, a view into `views`, a
command into `cli.py`. `docs/architecture.md` says more.
"""

from anatomy.assembling import assemble
from anatomy.hunting import hunt

__all__ = ["assemble", "hunt"]
