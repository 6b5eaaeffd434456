"""Where things are inside the sandbox."""

from __future__ import annotations

COURSE = "/course"
"""The package as the notebook's kernel may see it: ``/course/anatomy``."""
VISIBLE = "/visible"
"""Every notebook's copy of the package; only the parent and the supervisors see this."""
SOCKETS = "/sockets"
"""A folder for each kernel's sockets; only the parent and the supervisors see this."""
SOCKET = "/run/kernel"
"""The kernel's own."""
PROGRAM = "/warm"
"""The code in this folder; the kernels don't see it."""
FONTS = "/fonts"
"""matplotlib's list of fonts; the parent reads it."""
HOME = "/student"
WORK = "/student/work"
PRIVATE = (HOME, "/tmp", "/dev/shm")
"""Where a kernel may write. Each kernel has its own; the home comes first, the others are made ready in it."""
USER, UID = "student", 1000
