"""Notebook files, for whoever reads, writes or runs them: authors, graders, students' commands.

`notebooks` has where they are, how they are written and which of their cells are answers, `running` runs one in a
fresh kernel, `settings` reads what ``nbgrader_config.py`` beside them says.
"""
