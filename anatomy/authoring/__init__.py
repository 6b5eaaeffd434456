"""From a master notebook in ``source/`` to the student and the solved edition; and what a master must satisfy."""
