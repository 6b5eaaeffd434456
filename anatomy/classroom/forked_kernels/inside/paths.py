"""Paths inside the sandbox."""

from __future__ import annotations

COURSE_FOLDER = "/course"
"""The copy of the course's package that a kernel sees; first on its path."""
COPIES = "/copies"
"""All copies of the course's package; only the server and the supervisors see this."""
SOCKETS = "/sockets"
"""A folder for each kernel's sockets; only the server and the supervisors see this."""
SOCKET = "/run/kernel"
"""The kernel's own."""
PROGRAM = "/program"
"""The code in this folder; the kernels don't see it."""
FONTS = "/fonts"
"""matplotlib's list of fonts; the server reads it."""
HOME = "/student"
PRIVATE = (HOME, "/tmp", "/dev/shm")
"""Where a kernel may write. Each kernel has its own; the home comes first, the others are made ready in it."""
TERMINALS = "/dev/pts"
"""Each kernel has its own."""
DEVICES = tuple(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty"))
"""All kernels and the machine have these in common."""
USER, UID = "student", 1000
