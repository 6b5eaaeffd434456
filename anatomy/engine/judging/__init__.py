"""The judge: it compares an answer with the reference, names mistakes, and explains differences.

It reads observations and runs no student code. An observation may come from a process that can't be trusted. When marks
are given, the judge does not run beside student code.

A new kind of explanation goes into `relations` (how a wrong tensor follows from the right one), `values` (what else can
be said of values), `forms` (a wrong shape, type or name) or `symptoms` (what an error message means).
"""
