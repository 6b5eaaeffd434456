"""What tools/setup.sh says when it cannot go on."""

import pytest

from tests.test_house import copy_of_the_setup, read, run_setup, stand_in_for_venv


def test_a_named_python_that_is_not_there_is_called_so(tmp_path):
    folder = copy_of_the_setup(tmp_path)
    script = folder / "tools/setup.sh"
    script.write_text("PYTHON=/nonexistent\n" + script.read_text(encoding="utf-8"), encoding="utf-8")
    run = run_setup(folder, programs={"id": "echo 1000", "python3": "echo Python 3.11.2"})
    assert run.returncode == 1 and "not there: /nonexistent" in run.stderr
    assert "3.11" not in run.stderr


@pytest.mark.parametrize("said", ["NewConnectionError: refused", "error: no space left"])
def test_a_failed_installation_says_why_and_keeps_the_log(tmp_path, said):
    folder = copy_of_the_setup(tmp_path)
    stand_in_for_venv(folder)
    fails = f'#!/bin/bash\ncase "$*" in *requirements.txt*) echo "{said}"; echo No distribution; exit 1;; esac\n'
    (folder / ".venv/bin/python").write_text(fails, encoding="utf-8")
    run = run_setup(folder, programs={"id": "echo 1000"})
    offline = "Connection" in said
    assert run.returncode == 1
    assert ("No connection? Run the same command again." in run.stderr) == offline
    assert ("No distribution" in run.stderr) != offline
    assert said in (folder / ".venv/setup.log").read_text(encoding="utf-8")


def test_a_long_silence_of_pip_has_a_sign_of_life(tmp_path):
    """No terminal here: a line of dots, then the next line begins at its beginning."""
    folder = copy_of_the_setup(tmp_path)
    stand_in_for_venv(folder)
    script = folder / "tools/setup.sh"
    script.write_text(script.read_text(encoding="utf-8").replace("read -r -t 10", "read -r -t 1"), encoding="utf-8")
    works = (
        '#!/bin/bash\ncase "$*" in *requirements.txt*) echo Installing collected; /bin/sleep 2.5; echo Done;; esac\n'
    )
    (folder / ".venv/bin/python").write_text(works, encoding="utf-8")
    run = run_setup(folder, programs={"id": "echo 1000"})
    assert run.returncode == 0 and "\n..\n" in run.stderr and run.stderr.rstrip().endswith("Ready.\x1b[0m")
    assert "Installing collected\nDone\n" in (folder / ".venv/setup.log").read_text(encoding="utf-8")


def test_make_starts_the_setup_without_its_mode_bits():
    assert read("Makefile").count("tools/setup.sh") - 1 == read("Makefile").count("@bash tools/setup.sh") == 3
