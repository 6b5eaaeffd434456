"""What a course tells the fork server: what to import before kernels are forked, and what a kernel may see."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Preparation:
    """One course's kernels. The defaults make a bare Python kernel.

    Attributes
    ----------
    name
        The course's. Processes that share a server go by it.
    modules
        Imported in the server, so that no kernel has to. One that can't be imported is left out.
    later_modules
        Imported in the server when it has made some kernels that may need them (`ForkedKernelManager.later`) and more
        may follow: what only some notebooks need and takes long. A kernel that needs one before imports it itself.
    sample_cell
        Code such as notebooks hold. It is run in a fork of the server when the first kernels are made; what that
        imported is imported in the server, too.
    warm_up
        Code that is run once in the server itself: what a library does when it is first used.
    not_preloaded
        Modules, by how their names begin, that each kernel must load itself, whatever the sample cell imports.
    copies, make_copy
        Names of versions of the course's own package, of which a kernel sees one, and what writes one of them:
        ``make_copy(name, folder)`` gives the folder in it that goes on the kernel's path.
    copy_variable
        The variable in a kernel's environment that names its copy. Without it, it sees the first.
    covered
        Files and folders that kernels must not see even where they lie within something that is shown. Relative paths
        start at the working directory.
    variables
        Environment variables that kernels get as the grader has them, besides the ordinary ones.
    defaults
        Environment variables and their values where the grader has none.
    home_variables
        Environment variables that name a path in the kernel's home, with that path.
    """

    name: str = ""
    modules: tuple[str, ...] = ()
    later_modules: tuple[str, ...] = ()
    sample_cell: str = ""
    warm_up: str = ""
    not_preloaded: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    make_copy: Callable[[str, Path], Path] | None = None
    copy_variable: str = ""
    covered: tuple[Path, ...] = ()
    variables: tuple[str, ...] = ()
    defaults: tuple[tuple[str, str], ...] = ()
    home_variables: tuple[tuple[str, str], ...] = ()

    def copy_of(self, environment: Mapping[str, str]) -> str:
        """The name of the copy that a kernel with this environment sees; "" when there are none."""
        named = environment.get(self.copy_variable, "")
        return named if named in self.copies else next(iter(self.copies), "")
