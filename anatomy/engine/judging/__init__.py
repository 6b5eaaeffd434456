"""What must not run beside student code when marks are given: it compares, names and explains.

It reads observations, which may come from a process that can't be trusted, and runs no student code.

A new kind of explanation goes into `relations` (what a wrong tensor is of the right one), `values` (what else can be
said of values), `forms` (a wrong shape, type or name) or `symptoms` (what an error message means).
"""
