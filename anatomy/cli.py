"""The `anatomy` command. What a command does lives elsewhere and is imported when it is called: `--help` is quick.

Exit codes: 0 when all is well, 1 when something was found (a wrong answer, a stale file), 2 when the command could not
do its work.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console

from anatomy.errors import UserError

app = typer.Typer(
    name="anatomy",
    help="Transformer Anatomy: work the notebooks, check answers, grade a class, build the course.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
STUDENTS, AUTHORS, TEACHERS = "For students", "For authors", "For instructors"

Notebooks = Annotated[
    list[str] | None,
    typer.Argument(metavar="[NOTEBOOK]…", help="Slug, number or file; all by default.", show_default=False),
]
Root = Annotated[
    Path | None,
    typer.Option("--root", help="The course's folder; found from here upwards by default.", show_default=False),
]


@app.command(rich_help_panel=STUDENTS, context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def lab(context: typer.Context, root: Root = None) -> None:
    """Open JupyterLab at notebooks/. Further options go to `jupyter lab`.

    Example: [cyan]anatomy lab --no-browser --port=9999[/cyan]
    """
    folder = course_root(root) / "notebooks"
    command = [sys.executable, "-m", "jupyterlab", str(folder)]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    raise typer.Exit(subprocess.run([*command, *context.args], check=False).returncode)


@app.command(rich_help_panel=AUTHORS)
def build(
    notebooks: Notebooks = None,
    force: Annotated[bool, typer.Option("--force", help="Build over a student's work, keeping a copy of it.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; list what is not up to date.")] = False,
    root: Root = None,
) -> None:
    """Make the student and the solved edition from source/.

    Example: [cyan]anatomy build 03-softmax[/cyan]
    """
    from anatomy.authoring import build as building

    folder = course_root(root)
    console = Console()
    with said_clearly():
        if check:
            found = building.stale(folder, notebooks)
            for line in found:
                console.print(f"[red]✗[/red] {line}", highlight=False, soft_wrap=True)
            if found:
                console.print("Run [cyan]anatomy build[/cyan].")
                raise typer.Exit(1)
            console.print("[green]✓[/green] Both editions are what source/ gives.")
            return
        with console.status("Building…") as status:
            for built in building.build(folder, notebooks, force=force, say=status.update):
                cost = f"{built.cost.seconds:.1f} s, {built.cost.memory / 1e9:.2f} GB"
                console.print(
                    f"[green]✓[/green] {built.slug}  [dim]solved edition: {cost}[/dim]", highlight=False, soft_wrap=True
                )
                if built.kept:
                    console.print(f"  The work that was there is now {built.kept.relative_to(folder)}", soft_wrap=True)
                for warning in built.warnings:
                    console.print(f"[yellow]! {warning}[/yellow]", highlight=False, soft_wrap=True)


def course_root(root: Path | None) -> Path:
    """The course's folder: as named, or the nearest one from here upwards, or where this package is installed from."""
    import anatomy

    if root:
        return root.resolve()
    here = Path.cwd()
    for folder in (here, *here.parents, Path(anatomy.__file__).parent.parent):
        if (folder / "nbgrader_config.py").is_file():
            return folder
    fail("The course's folder is not here. Go there (it holds nbgrader_config.py), or name it with --root.")


@contextlib.contextmanager
def said_clearly() -> Iterator[None]:
    """Errors that a user can do something about become one message and exit code 2."""
    try:
        yield
    except UserError as error:
        fail(str(error))


def fail(message: str) -> NoReturn:
    Console(stderr=True).print(f"[red]{message}[/red]", highlight=False, soft_wrap=True)
    raise typer.Exit(2)
