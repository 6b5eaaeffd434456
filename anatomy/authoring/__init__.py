"""From a master notebook in ``source/`` to the student and the solved edition; and what a master must satisfy.

A new rule for notebooks is a function in one of the `rules_…` modules, decorated with `rule`.
"""
