"""Puts the student edition into a wheel; all else stands in pyproject.toml."""

import shutil
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from anatomy.starting import edition  # noqa: E402


class BuildWithEdition(build_py):
    """The package as always and, unless the checkout itself is installed, the files for `anatomy start`."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        target = Path(self.build_lib, "anatomy", "edition")
        shutil.rmtree(target, ignore_errors=True)
        for path in edition(HERE):
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(HERE / path, target / path)


setup(cmdclass={"build_py": BuildWithEdition})
