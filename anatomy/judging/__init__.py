"""What must not run beside student code when marks are given: it compares, names and explains.

It reads observations, which may come from a process that can't be trusted, and runs no student code.
"""
