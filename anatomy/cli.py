"""The `anatomy` command. What a command does lives elsewhere and is imported when it is called: `--help` is quick.

Exit codes: 0 when all is well, 1 when something was found (a wrong answer, a stale file), 2 when the command could not
do its work.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.markup import escape

from anatomy import PACKAGE
from anatomy.engine.class_edition import class_edition
from anatomy.engine.errors import UserError
from anatomy.engine.notebook_files.settings import CONFIG

if TYPE_CHECKING:
    from anatomy.classroom.class_edition.on_disk import Written


class Commands(typer.core.TyperGroup):
    """The commands. What is not in the edition for a class says so in a sentence wherever it is asked for."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        for command in self.commands.values():  # typer would keep the line breaks of all paragraphs but the first
            paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
            command.help = "\n\n".join(" ".join(paragraph.split("\n")) for paragraph in paragraphs)

    def invoke(self, ctx: Any) -> Any:
        with said_clearly():
            return super().invoke(ctx)


app = typer.Typer(
    name="anatomy",
    cls=Commands,
    help="Transformer Anatomy: work the notebooks, check answers, grade a class, build the course.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
STUDENTS, AUTHORS, TEACHERS = "For students", "For authors", "For instructors"

Notebooks = Annotated[
    list[str] | None,
    typer.Argument(metavar="NOTEBOOK", help="Slug, number or file; all by default.", show_default=False),
]
Root = Annotated[
    Path | None,
    typer.Option("--root", help="The course's folder; found from here by default.", show_default=False),
]


FIRST = "notebooks/00-start-here/00-start-here.ipynb"
"""The notebook that a student's JupyterLab opens at first."""


@app.command(rich_help_panel=STUDENTS)
def start(
    folder: Annotated[Path, typer.Argument(help="Yours: a new one, or one that you began in.", show_default=False)],
) -> None:
    """Copy the notebooks into a folder of your own. A file that is there stays as it is.

    Example: [cyan]anatomy start transformers[/cyan]
    """
    from anatomy import starting
    from anatomy.engine.typed import anatomy_command

    with said_clearly():
        done = starting.start(folder)
    console = Console()
    for path in done.left:
        console.print(f"Left as it is: {escape(str(path))}", highlight=False, soft_wrap=True)
    with console.status("Looking for the weights of a real model…"):  # it imports torch
        weights = starting.about_weights()
    console.print(f"Files copied: {done.copied}.\n\n{weights}\n", highlight=False, markup=False, soft_wrap=True)
    console.print("What to do next:\n")
    go_there = "" if folder.resolve() == Path.cwd() else f"    cd {shlex.quote(str(folder))}\n"
    console.print(f"{go_there}    {anatomy_command()} lab", highlight=False, markup=False, soft_wrap=True)


@app.command(rich_help_panel=STUDENTS, context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def lab(
    context: typer.Context,
    instructor: Annotated[bool, typer.Option("--instructor", help="With Formgrader and all else of nbgrader.")] = False,
    root: Root = None,
) -> None:
    """Open JupyterLab as a student needs it, where you left off. Further options go to `jupyter lab`.

    It opens the notebook that you worked in last, at first 00.

    Example: [cyan]anatomy lab --no-browser --port=9999[/cyan]
    """
    import sysconfig

    from jupyterlab.labapp import LabApp

    from anatomy.engine.notebook_files.notebooks import last_worked_in

    course = course_root(root)
    # tools/jupyterlab/README.md says what these hide and add
    for name, folder in (("JUPYTER_CONFIG_PATH", "instructor" if instructor else "student"), ("JUPYTER_PATH", "data")):
        ours = str(course / "tools" / "jupyterlab" / folder)
        os.environ[name] = os.pathsep.join(filter(None, (os.environ.get(name), ours)))
    # so that a terminal in there knows the `anatomy` of this installation; a login shell would set PATH anew
    os.environ["PATH"] = os.pathsep.join((sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)))
    os.chdir(course)  # where nbgrader looks for its settings
    options = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    if os.name != "nt":
        shell = shlex.quote(os.environ.get("SHELL") or "sh")
        options.append(f"--ServerApp.terminado_settings=shell_command={shell}")
    if not instructor and (course / FIRST).is_file():
        opened = last_worked_in(course) or course / FIRST
        options.append(f"--LabApp.default_url=/lab/tree/{opened.relative_to(course).as_posix()}")
    LabApp.launch_instance([str(course), *options, *context.args])


@app.command(rich_help_panel=STUDENTS)
def check(
    notebook: Annotated[str, typer.Argument(help="A notebook file, or its number.", show_default=False)],
    limit: Annotated[float, typer.Option("--limit", help="Seconds that one cell may take.")] = 120,
    why: Annotated[
        bool, typer.Option("--why", help="For authors: what was tried before a card was written, and what refuted it.")
    ] = False,
    root: Root = None,
) -> None:
    """Run a notebook and all its checks, without JupyterLab. The file is not changed.

    Where your class has a judge, it is asked. Exit code 0 when every answer is right, 1 when one is not, 2 when the
    judge could not be asked about one.

    Example: [cyan]anatomy check 03[/cyan]
    """
    from anatomy.engine.checking import headless, remote
    from anatomy.engine.checking.joining import class_judge, is_key_set
    from anatomy.engine.checking.progress_file import note_check
    from anatomy.engine.notebook_files.notebooks import student_file
    from anatomy.wiring import the_course

    console, found = Console(), list[headless.Checked]()
    with said_clearly(), console.status("Starting a kernel…") as status:
        file = Path(notebook)
        if not file.is_file():
            file = student_file(course_root(root), the_course().find(notebook).slug)
            if not file.is_file():
                fail(f"There is no {file}. It belongs into a course's folder: go there, or name it with --root.")
        for checked in headless.check_file(the_course(), file, limit=limit, say=status.update):
            console.print(checked, soft_wrap=True)
            for line in checked.why if why else ():
                console.print(f"    [dim]why: {escape(line)}[/dim]", soft_wrap=True, highlight=False)
            found.append(checked)
    verdicts = [checked.verdict for checked in found if checked.verdict]
    if any((folder.parent / CONFIG).is_file() for folder in file.resolve().parents if folder.name == "notebooks"):
        for verdict in verdicts:
            note_check(verdict)
    points = sum(verdict.points for verdict in verdicts)
    most = sum(the_course().exercise(checked.exercise).points for checked in found)
    right, waiting = ([checked.status for checked in found].count(status) for status in ("right", "not checked"))
    if waiting < len(found):  # of answers that were not checked nothing is known
        counts = f"{right} of {len(found)} exercises right, {points} of {most} points."
        console.print(counts, style="bold", highlight=False)
    if waiting:
        needs_key = any(checked.command for checked in found)
        then = (
            f"{'set' if is_key_set() else 'store'} your key, then run this again"
            if needs_key
            else "run this again later"
        )
        console.print(f"{waiting} of {len(found)} not checked: {then}.", style="bold", highlight=False)
    if (address := class_judge()) and (warning := remote.open_way(address)):
        Console(stderr=True).print(f"[yellow]! {escape(warning)}[/yellow]", highlight=False, soft_wrap=True)
    raise typer.Exit(2 if waiting else right != len(found))


@app.command(rich_help_panel=STUDENTS)
def progress(
    notebook: Annotated[
        str, typer.Option("--notebook", metavar="NN", help="Its exercises, one by one: slug or number.")
    ] = "",
) -> None:
    """Show which exercises are right, which are open, and what comes next.

    Example: [cyan]anatomy progress --notebook 03[/cyan]
    """
    from anatomy.engine.checking.progress import ProgressCard
    from anatomy.wiring import the_course

    course = the_course()
    with said_clearly():
        Console().print(ProgressCard(course, course.find(notebook).slug if notebook else ""), highlight=False)


@app.command(rich_help_panel=STUDENTS)
def hunt(
    notebook: Annotated[
        str,
        typer.Argument(
            metavar="NOTEBOOK",
            help="Slug or number; by default the last one with a bug for you.",
            show_default=False,
        ),
    ] = "",
) -> None:
    """Find the bug in a wrong answer to an exercise that you have solved: which line, and what does it do?

    Ctrl-C stops. What you got wrong yourself comes first.

    Example: [cyan]anatomy hunt 03-softmax[/cyan]
    """
    from anatomy.engine.hunting import terminal
    from anatomy.wiring import the_course

    course = the_course()
    with said_clearly():
        terminal.ask(course, course.find(notebook) if notebook else terminal.latest(course), Console())


@app.command(rich_help_panel=STUDENTS)
def assemble(
    folder: Annotated[
        Path | None,
        typer.Argument(
            help="What holds the notebooks' folders; yours in notebooks/ by default.",
            file_okay=False,
            show_default=False,
        ),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")] = Path("my_transformer.py"),
    fill: Annotated[bool, typer.Option("--fill", help="Import the course's answers where yours are missing.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Write over a file that was edited since, keeping a copy of it.")
    ] = False,
    root: Root = None,
) -> None:
    """Gather your own answers into one my_transformer.py, check them, and load real weights into it.

    It says what is missing or wrong, and how far your models with the library's weights are from the library's own.
    Exit code 0 when all is there and right.

    Example: [cyan]anatomy assemble --output my_transformer.py[/cyan]
    """
    from anatomy.course.assembling.assembly import put_together

    console = Console()
    with said_clearly(), console.status("Reading your notebooks…") as status:
        made = put_together(
            folder or course_root(root) / "notebooks", output, fill=fill, force=force,
            on_step=lambda done, total, what: status.update(f"{done} of {total}: {what}"),
        )  # fmt: skip
    console.print(made, highlight=False, soft_wrap=True)
    raise typer.Exit(not made.is_complete)


@app.command(rich_help_panel=STUDENTS)
def explore(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What the model reads.", show_default=False)] = "",
    model: Annotated[
        str, typer.Option("--model", help="encoder, decoder, encoder-decoder or modern (a Llama).")
    ] = "encoder",
    file: Annotated[
        Path | None,
        typer.Option(
            "--file", help="Your own classes, as `anatomy assemble` writes them.", dir_okay=False, exists=True
        ),
    ] = None,
    port: Annotated[int, typer.Option("--port", help="0 takes a free one.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in your browser.")] = True,
) -> None:
    """Watch a Transformer read a text, step by step, in your browser. Ctrl-C stops.

    With --file it is your own code that computes. A decoder is trained the first time, for about a minute.

    Example: [cyan]anatomy explore "fruit flies like a banana"[/cyan]
    """
    import webbrowser

    from rich.progress import Progress

    from anatomy.course.exploring.models import shown
    from anatomy.course.exploring.serving import Server

    console = Console()
    with said_clearly():
        with Progress(console=console, transient=True) as bar:
            task = bar.add_task("Preparing the model", total=None)

            def on_step(done: int, total: int) -> None:
                if done == 1 and not console.is_terminal:  # where the bar is not seen
                    console.print("Training the model, once. It takes about a minute.")
                bar.update(task, completed=done, total=total)

            found = shown(model, file, on_step)
            first = found.explorer.state(text or found.text)
        try:
            server = Server(found.explorer, [first], found.examples, port)
        except OSError as error:
            raise UserError(f"Port {port} can't be listened at: {error.strerror}. Leave --port away to take a free one."
                            ) from error  # fmt: skip
    console.print(f"Open {server.address}  (Ctrl-C stops)", highlight=False, soft_wrap=True)
    if browser:
        webbrowser.open(server.address)
    with contextlib.suppress(KeyboardInterrupt):
        server.serve_forever()
    server.server_close()


@app.command(rich_help_panel=STUDENTS)
def join(
    key: Annotated[
        str, typer.Argument(metavar="KEY", help="From your instructor; asked for if left out.", show_default=False)
    ] = "",
) -> None:
    """Store the key by which your class's judge knows you. On a JupyterHub you need none.

    Example: [cyan]anatomy join 0f2b7c5e9d1a4836b7e05c92d4f8a163[/cyan]
    """
    from anatomy.engine.checking.calling import join_class

    with said_clearly():
        said = join_class(key or typer.prompt("Your key", hide_input=True))
    Console().print(said, highlight=False, markup=False, soft_wrap=True)


@app.command(rich_help_panel=STUDENTS)
def doctor() -> None:
    """Say what this machine has, what is missing, and how to get it.

    Example: [cyan]anatomy doctor[/cyan]
    """
    from anatomy import doctor as examination

    raise typer.Exit(not examination.report(examination.diagnose(), Console()))


@app.command(rich_help_panel=STUDENTS)
def update(
    edition: Annotated[
        Path, typer.Argument(help="The zip file that you were given, or the folder it unpacks to.", show_default=False)
    ],
    root: Root = None,
) -> None:
    """Bring the next notebooks into your class's edition of the course. What you have worked on stays.

    Example: [cyan]anatomy update ~/Downloads/class-edition.zip[/cyan]
    """
    from anatomy.classroom.class_edition.on_disk import update as bring

    folder = course_root(root)
    with said_clearly():
        done = bring(edition, folder)
    console = Console()
    console.print(f"Brought {done.files} new files.", highlight=False)
    say_what_was_kept(done, folder, console)


@app.command("binder-link", rich_help_panel=TEACHERS)
def binder_link(
    repository: Annotated[str, typer.Argument(metavar="OWNER/REPO", help="Your fork on GitHub.", show_default=False)],
    branch: Annotated[str, typer.Option("--branch", help="Its branch.")] = "main",
    hub: Annotated[
        str, typer.Option("--hub", metavar="ADDRESS", help="A JupyterHub that has nbgitpuller: links for it, too.")
    ] = "",
) -> None:
    """Print a badge and links, as Markdown, that open a fork of the course on Binder, a JupyterHub, Colab and Kaggle.

    Example: [cyan]anatomy binder-link your-name/transformer-anatomy --hub https://hub.example.org[/cyan]
    """
    from anatomy.authoring.launch_links import Fork, as_markdown

    with said_clearly():
        print(as_markdown(Fork(repository, branch), hub))


@app.command("sample-class", rich_help_panel=TEACHERS)
def sample_class(
    notebooks: Notebooks = None,
    students: Annotated[int, typer.Option("--students", min=1, help="How many.")] = 8,
    seed: Annotated[int, typer.Option("--seed", help="The same seed gives the same class.")] = 1,
    remove: Annotated[
        bool, typer.Option("--remove", help="Take the made-up class out again: files, marks and pages.")
    ] = False,
    root: Root = None,
) -> None:
    """Write a made-up class into submitted/, whose true marks are known: to try grading before students arrive.

    Example: [cyan]anatomy sample-class --students 8 --seed 1[/cyan]

    Before your own class comes: [cyan]anatomy sample-class --remove[/cyan]
    """
    from anatomy.classroom import sample_class as sample
    from anatomy.engine.typed import typed

    folder = course_root(root)
    with said_clearly():
        command = typed("grade")  # before the gradebook puts programs on the path
        if remove:
            students = sample.remove_sample_class(folder)
            Console().print(f"Removed {counted(students, 'made-up student')}, with all marks and pages. marks.csv and "
                            "grades.csv no longer list them. A class report that counted them is removed, too.",
                            highlight=False, soft_wrap=True)  # fmt: skip
            return
        made = sample.write_sample_class(students, seed, folder, notebooks)
    console = Console()
    if made.replaced:
        console.print(f"Removed the made-up class that was here, of {counted(made.replaced, 'student')}, "
                      "with all marks and pages.", highlight=False, soft_wrap=True)  # fmt: skip
    what = f"{counted(made.submissions, 'submission')} of {counted(made.students, 'made-up student')}"
    console.print(
        f"Wrote {what} into {made.folder.relative_to(folder)}/, {made.broken} of them broken on purpose.",
        soft_wrap=True,
    )
    console.print(
        f"Their true marks, and what is broken in which file: {made.known.relative_to(folder)}. "
        f"Now: [cyan]{escape(command)}[/cyan]",
        soft_wrap=True,
    )


OneNotebook = Annotated[str, typer.Argument(metavar="NOTEBOOK", help="Slug or number.", show_default=False)]
PlatformZip = Annotated[
    Path, typer.Argument(metavar="ZIP", help="All submissions, as the platform gives them.", show_default=False)
]


@app.command(rich_help_panel=TEACHERS)
def collect(notebook: OneNotebook, archive: PlatformZip, root: Root = None) -> None:
    """Sort a zip of what students handed in on Moodle, Canvas or alike into submitted/.

    Of who has handed in before, the new file takes the place of the earlier one. Exit code 1 when files were left; the
    last lines name them.

    Example: [cyan]anatomy collect 03 ~/Downloads/submissions.zip[/cyan]
    """
    from anatomy.classroom.grading import collecting

    with said_clearly():
        done = collecting.collect(course_root(root), notebook, archive.expanduser())
    console = Console()
    console.print(f"{done.notebook}: {done.new} new, {done.replaced} in place of an earlier file, {done.unchanged} "
                  "as before. They are in submitted/.", highlight=False, soft_wrap=True)  # fmt: skip
    for path, why in done.left:
        console.print(f"skipped {path}: {why}", highlight=False, markup=False, soft_wrap=True)
    raise typer.Exit(bool(done.left))


@app.command("give-back", rich_help_panel=TEACHERS)
def give_back(notebook: OneNotebook, archive: PlatformZip, root: Root = None) -> None:
    """Write the pages of one notebook into a zip that Moodle or Canvas gives back to the students.

    It needs the zip that was collected: the platform finds each student by the names in it.

    Example: [cyan]anatomy give-back 03 ~/Downloads/submissions.zip[/cyan]
    """
    from anatomy.classroom.grading import collecting
    from anatomy.engine.typed import typed

    command = typed("report")  # before the gradebook puts programs on the path
    with said_clearly():
        made, pages, without, waiting = collecting.give_back(course_root(root), notebook, archive.expanduser())
    Console().print(f"{made}: {counted(pages, 'page')}.", highlight=False, markup=False, soft_wrap=True)
    if without:
        words = f"No page for {', '.join(without)}: nothing of theirs is graded."
        Console().print(words, highlight=False, markup=False, soft_wrap=True)
    if waiting:
        words = f"A mark still waits for you in what {', '.join(waiting)} handed in: `{command}` says which."
        Console().print(words, highlight=False, markup=False, soft_wrap=True)


@app.command(rich_help_panel=TEACHERS)
def grade(
    notebooks: Notebooks = None,
    student: Annotated[list[str] | None, typer.Option("--student", help="Only this one; may be repeated.")] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers", min=1, help="How many processes; one more than cores by default.", show_default=False
        ),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option("--scheduler", help="Address of a Dask scheduler whose workers grade.", show_default=False),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Also what has not changed since it was graded.")] = False,
    feedback: Annotated[
        bool, typer.Option("--feedback/--no-feedback", help="Make the pages that students get.")
    ] = True,
    sandbox: Annotated[
        str | None,
        typer.Option("--sandbox", help="bubblewrap (default), or none where this whole container is the sandbox."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    root: Root = None,
) -> None:
    """Grade what was handed in or changed, print the table, and write marks.csv, grades.csv and feedback/.

    Exit code 1 when a submission could not be graded; the table says why. With a made-up class, whose broken files are
    meant to stay ungraded, exit code 1 when its marks are not the known ones. Stopped or killed, the same command goes
    on where it was.

    Example: [cyan]anatomy grade 03-softmax[/cyan]
    """
    from anatomy.classroom.grading import run
    from anatomy.classroom.grading.report import as_dict

    console = Console(stderr=as_json)
    try:
        with said_clearly():
            report = run.grade(
                course_root(root), notebooks, student, sandbox=sandbox, workers=workers, scheduler=scheduler,
                force=force, feedback=feedback, console=console,
            )  # fmt: skip
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    if as_json:
        print(json.dumps(as_dict(report), indent=1, ensure_ascii=False))
    raise typer.Exit(report.is_amiss)


@app.command(rich_help_panel=TEACHERS)
def report(
    notebooks: Notebooks = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path("class-report.html"),
    table: Annotated[
        Path | None,
        typer.Option("--csv", help="The table to write; by default beside the page.", show_default=False),
    ] = None,
    anonymous: Annotated[bool, typer.Option("--anonymous", help="Numbers in place of names.")] = False,
    root: Root = None,
) -> None:
    """Say what a class knows and what it gets wrong, on one page to read or to print, and as a table.

    Marks, how hard each exercise is, which mistakes the class has and who holds each, and what waits for you. Of all
    notebooks, or of those that you name.

    Example: [cyan]anatomy report 09 --output week-9.html --anonymous[/cyan]
    """
    from anatomy.classroom.grading.class_report import write_report
    from anatomy.engine.typed import typed

    command = typed("grade")  # before the gradebook puts programs on the path
    with said_clearly():
        made = write_report(course_root(root), output, table, notebooks, anonymous=anonymous)
    waiting = f"; {made.open} {'waits' if made.open == 1 else 'wait'} for you" if made.open else ""
    only = f"only {', '.join(made.only)}" if made.only else ""
    about = ", ".join(filter(None, (only, "without names" if anonymous else "")))
    Console().print(
        f"{made.page} and {made.table}{f' ({about})' if about else ''}: {counted(made.students, 'student')}, "
        f"{counted(made.graded, 'submission')} with marks{waiting}. "
        "Open the page in a browser.", highlight=False, markup=False, soft_wrap=True,
    )  # fmt: skip
    if made.is_ahead:
        Console().print("! The gradebook has changed since marks.csv was written, as by a mark given in Formgrader. "
                        f"The report has it. To bring marks.csv, grades.csv and students' pages up to date: {command}",
                        style="yellow", highlight=False, markup=False, soft_wrap=True)  # fmt: skip


@app.command(rich_help_panel=TEACHERS)
def release(
    notebook: Annotated[
        str, typer.Option("--class", metavar="NOTEBOOK", help="As far as the class has come.", show_default=False)
    ],
    judge: Annotated[
        str, typer.Option("--judge", metavar="URL", help="Where `anatomy serve` answers.", show_default=False)
    ],
    to: Annotated[Path, typer.Option("--to", metavar="FOLDER", help="A new one, or a former release.")] = Path(
        "class-edition"
    ),
    zipped: Annotated[bool, typer.Option("--zip", help="Write FOLDER.zip, too.")] = False,
    root: Root = None,
) -> None:
    """Make the course as a class gets it while its answers stay with you: the notebooks so far, checked by your judge.

    Only a class with such a judge needs it. In every other class, students have the notebooks in notebooks/.
    The right answers of earlier notebooks, which later ones build on, come with the later notebook.

    Example: [cyan]anatomy release --class 03-softmax --judge https://hub.example.org/services/judge --zip[/cyan]
    """
    from anatomy.classroom.releasing.release import release as make
    from anatomy.wiring import the_course

    console = Console()
    with said_clearly(), console.status("Making the edition…") as status:
        made = make(course_root(root), the_course().find(notebook), judge, to, zipped=zipped, say=status.update)
    if made.warning:
        Console(stderr=True).print(f"[yellow]! {escape(made.warning)}[/yellow]", highlight=False, soft_wrap=True)
    say_what_was_kept(made.written, made.folder, console)
    places = f"{made.folder}{f' and {made.zip_file}' if made.zip_file else ''}"
    console.print(
        f"{places}: the notebooks up to {the_course().find(notebook).slug}, {made.written.files} files new or changed. "
        "\nNext: start the judge and give each student a key, unless the judge is a JupyterHub's. Then publish the "
        f"folder for nbgitpuller, or hand out {made.zip_file or 'a zip file, which --zip writes'}. "
        "The judge: docs/judge-service.md.", highlight=False, markup=False, soft_wrap=True,
    )  # fmt: skip


@app.command(rich_help_panel=TEACHERS)
def serve(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="With --new-keys: who gets one.", show_default=False),
    ] = None,
    keys: Annotated[
        Path | None, typer.Option("--keys", help="Who may ask: a file of keys and names.", show_default=False)
    ] = None,
    new_keys: Annotated[
        Path | None,
        typer.Option(
            "--new-keys", help="Add a key for each NAME to this file, print them, and end.", show_default=False
        ),
    ] = None,
    host: Annotated[str, typer.Option("--host", help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="The port; 0 for any that is free.")] = 8700,
    prefix: Annotated[str, typer.Option("--prefix", help="How the path of its addresses begins.")] = "/",
    workers: Annotated[
        int | None,
        typer.Option("--workers", min=1, help="How many processes; one a core by default.", show_default=False),
    ] = None,
    prepare: Annotated[
        list[str] | None,
        typer.Option(
            "--prepare",
            metavar="NN",
            help="Get ready for this notebook from the start; may be repeated. By default for each when it is first "
            "asked about.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Judge the answers of a class whose machines hold no right ones, and show which exercise the room is at.

    As a service of a JupyterHub it knows the hub's users, and host, port and prefix are the hub's. Elsewhere --keys
    names who may ask. It speaks HTTP: let a proxy in front of it speak https.

    Example: [cyan]anatomy serve --new-keys keys.txt Ada Alan "Grace (instructor)"[/cyan]

    Then: [cyan]anatomy serve --keys keys.txt[/cyan]
    """
    from anatomy.classroom.serving import people
    from anatomy.classroom.serving.serve import Place, serve
    from anatomy.classroom.serving.workers import JudgeWorkers
    from anatomy.wiring import the_course

    console = Console(stderr=True)
    with said_clearly():
        if new_keys:
            for name, key in people.add_keys(new_keys, names or []).items():
                print(key, name)
            return
        if names:
            fail("Names are for --new-keys FILE.")
        place = Place.of_hub()
        if not keys and not place:
            raise people.NoKeys
        who = people.Keys(keys) if keys else people.Hub()
        books = map(the_course().find, prepare or [])
        judges = JudgeWorkers(workers or os.cpu_count() or 1, [book.slug for book in books])
        serve(
            who, place or Place(host, port, prefix), judges,
            lambda text: console.print(text, highlight=False, markup=False, soft_wrap=True),
        )  # fmt: skip


@app.command(rich_help_panel=AUTHORS)
def build(
    notebooks: Notebooks = None,
    rerun: Annotated[
        bool, typer.Option("--all", help="Run all solved editions, also those whose code has not changed.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Build over a student's work, keeping a copy of it.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; list what is not up to date.")] = False,
    root: Root = None,
) -> None:
    """Make the student and the solved edition from source/. What is named is run; else what has other code than before.

    Example: [cyan]anatomy build 03-softmax[/cyan]
    """
    from anatomy.authoring import build as building

    folder = course_root(root)
    console = Console()
    with said_clearly():
        if check:
            found = building.stale(folder, notebooks)
            for line in found:
                console.print(f"[red]✗[/red] {escape(line)}", highlight=False, soft_wrap=True)
            if found:
                console.print("Run [cyan]anatomy build[/cyan].")
                raise typer.Exit(1)
            console.print("[green]✓[/green] Both editions are what source/ gives.")
            return
        with console.status("Building…") as status:
            everything = building.build(folder, notebooks, rerun=rerun, force=force, say=status.update)
            for built in everything:
                took = (
                    f"{built.cost.seconds:.1f} s, {built.cost.memory / 1e9:.2f} GB" if built.cost else "not run again"
                )
                console.print(
                    f"[green]✓[/green] {built.slug}  [dim]solved edition: {took}[/dim]", highlight=False, soft_wrap=True
                )
                if built.kept:
                    console.print(f"  The work that was there is now {built.kept.relative_to(folder)}", soft_wrap=True)
                for warning in built.warnings:
                    console.print(f"[yellow]! {escape(warning)}[/yellow]", highlight=False, soft_wrap=True)
            if same := sum(built.cost is None for built in everything):
                console.print(f"{same} of {len(everything)} have the code that they had, and keep their outputs. "
                              "After a change in the package:\n    anatomy build --all", soft_wrap=True)  # fmt: skip


@app.command("add-exercise", rich_help_panel=AUTHORS)
def add_exercise(
    name: Annotated[str, typer.Argument(help="What its modules call it.", show_default=False)], root: Root = None
) -> None:
    """Put a new exercise's cells into its notebook in source/, made from its modules: header, answer, check.

    Example: [cyan]anatomy add-exercise row_lengths[/cyan]
    """
    from anatomy.authoring import new_exercise

    folder = course_root(root)
    with said_clearly():
        path = new_exercise.add_exercise(folder, name)
    Console().print(
        f"{path.relative_to(folder)} has three new cells before its end, for {name}. Open it in JupyterLab, move them "
        "where they belong, and write the text and the hints.", highlight=False, soft_wrap=True,
    )  # fmt: skip


@app.command(rich_help_panel=AUTHORS)
def lint(
    notebooks: Notebooks = None,
    fix: Annotated[bool, typer.Option("--fix", help="First remove outputs and tidy the files.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the complaints as JSON.")] = False,
    root: Root = None,
) -> None:
    """Look for what the masters in source/ lack: checks, hints, alt text, points, names, form, plain English.

    Example: [cyan]anatomy lint 03-softmax[/cyan]
    """
    from importlib.util import find_spec

    from anatomy.authoring import lint as linting

    folder = course_root(root)
    console = Console()
    with said_clearly():
        for path in linting.fix(folder, notebooks) if fix else ():
            Console(stderr=True).print(f"Tidied {path.relative_to(folder)}", highlight=False, soft_wrap=True)
        found = linting.lint(folder, notebooks)
    if find_spec("proselint") is None:
        Console(stderr=True).print("The text was not checked for plain English: that needs proselint.")
    if as_json:
        print(json.dumps([complaint.as_dict() for complaint in found], indent=1, ensure_ascii=False))
    elif found:
        for table in linting.as_tables(found):
            console.print(table, "")
    else:
        console.print("[green]✓[/green] Nothing to put right.")
    raise typer.Exit(bool(found))


def course_root(root: Path | None) -> Path:
    """The course's folder: as named, the nearest from here upwards, the one directly below, or this package's own."""
    if root:
        if not root.is_dir():
            fail(f"There is no folder {root}. Name the course's with --root.")
        return root.resolve()
    here = Path.cwd()
    below = sorted(file.parent for file in here.glob(f"*/{CONFIG}"))
    for folder in (here, *here.parents, *(below if len(below) == 1 else ()), PACKAGE.parent):
        if (folder / CONFIG).is_file():
            return folder
    if below:
        choices = " or ".join(f"cd {shlex.quote(folder.name)}" for folder in below)
        fail(f"Several courses lie in this folder. Go into one of them first: {choices}")
    fail("No course lies in this folder. Go into the one that `anatomy start` or `git clone` made: cd FOLDER")


def counted(count: int, what: str) -> str:
    """A number of things, such as "1 student" or "2 students"."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def say_what_was_kept(done: Written, folder: Path, console: Console) -> None:
    """Name the files that somebody has changed, and that an edition for a class did not replace."""
    for path in done.left:
        console.print(f"Left as it is, because it was changed: {path.relative_to(folder)}", soft_wrap=True)
    for path in done.copies:
        console.print(f"It was changed, so a copy is kept: {path.relative_to(folder)}", soft_wrap=True)


@contextlib.contextmanager
def said_clearly(*kinds: type[Exception]) -> Iterator[None]:
    """Errors that a user can do something about become one message and exit code 2."""
    told: tuple[type[Exception], ...] = (UserError, *kinds)
    try:
        yield
    except told as error:
        fail(str(error))


def fail(message: str) -> NoReturn:
    Console(stderr=True).print(f"[red]{escape(message)}[/red]", highlight=False, soft_wrap=True)
    raise typer.Exit(2)


if class_edition():
    app.registered_commands = [one for one in app.registered_commands if one.rich_help_panel == STUDENTS]
    for one in app.registered_commands:
        one.hidden = one.callback in (hunt, assemble)  # each says in a sentence why it is not there
