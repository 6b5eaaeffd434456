"""nbgrader's step that runs a notebook, in a kernel that observes and does not judge."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterable, Set
from copy import deepcopy
from dataclasses import replace
from typing import Any

from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbclient.util import run_sync
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader import utils
from nbgrader.preprocessors import Execute
from traitlets import Bool, Float, Integer

from anatomy.classroom.grading.course_kernels import CourseKernelManager, environment, fresh_seeds
from anatomy.classroom.grading.notes import INTERRUPTED, NOTE, CellNote, NotebookNote
from anatomy.classroom.grading.preprocessors.course_notebook import Converted, course_notebook, displayed
from anatomy.classroom.grading.preprocessors.lending import Lending
from anatomy.classroom.grading.skippable_cells import names_bound, skippable_cells

TOO_MUCH = "took too much memory"
BROKE_THE_CHECK = "kept the check from working"
MOST_SUSPECTS = 4
"""Cells that are left out in turn to find the one that has broken a check."""
NOT_RUN = "Not run while grading: no answer needs it."
OWN_CHECK = "from anatomy import check"
"""What a check cell begins with when it is run: a cell of the student's may have given its name to something else."""


class RunAndObserve(Execute):
    """Run a notebook in a kernel that observes and does not judge.

    Given cells that no answer needs are not run: see `anatomy.classroom.grading.skippable_cells`. A cell that ends its
    kernel, or that neither finishes in time nor stops when interrupted, is left out and the notebook is run again
    without it: it costs what it defines, nothing else.

    Time in which other programs had the processors does not count: no mark depends on what else the machine does.

    A cell may leave behind what ends the kernel later, in a cell that can do nothing for it (hundreds of megabytes that
    are still being printed). So when a kernel ends, those cells are left out first that were interrupted, said more
    than is kept, or ran out of memory.

    After a check whose answer was not right, the kernel is lent a right one for those answers that call it: see
    `anatomy.classroom.grading.preprocessors.lending`. From then on the records of all checks so far are final: another
    run of the notebook can't replace them, whatever its kernel may know of this one's.

    A cell may also replace or break the check itself. So when nothing arrives from a check, the cells of the student's
    own between the check before it and this one are left out in turn, until one does. This comes before anything is
    lent for that check, and no record of another check is looked at without a cell that is put back later.

    All runs of a notebook together have a budget of time. Checks that are not reached in it have no mark, not even 0.
    """

    timeout = Integer(60, help="Seconds that one cell may take.", allow_none=True).tag(config=True)
    everything = Bool(False, help="Run also the given cells that no answer needs.").tag(config=True)
    most_restarts = Integer(8, help="How many cells of one notebook may end their kernel.").tag(config=True)
    patience = Float(
        10.0, help="How many time limits all cells of a kernel together may wait for a processor that others have."
    ).tag(config=True)
    budget = Float(
        15.0, help="How many time limits all runs of a notebook together may take, such waiting not counted."
    ).tag(config=True)
    iopub_timeout = Integer(20, help="Seconds to wait for a cell's last output.").tag(config=True)
    raise_on_iopub_timeout = Bool(True, help="Leave out a cell whose output does not end, not what follows it.").tag(
        config=True
    )

    _environment: dict[str, str] | None = None
    _left_out: dict[int, str] = {}  # noqa: RUF012  (a new one for each notebook)
    _own: Set[int] = frozenset()
    """The cells of code that are not as they were handed out, checks not counted."""
    _may_break: dict[int, list[int]] = {}  # noqa: RUF012  (a new one for each notebook)
    """For checks from which nothing has arrived, the cells that may be why and are still to be tried."""
    _blamed: dict[int, int] = {}  # noqa: RUF012  (a new one for each notebook)
    """The cell that is left out for such a check."""
    _skipped: Set[int] = frozenset()
    _skipped_names: Set[str] = frozenset()
    """What the skipped cells bind."""
    _lending: Lending | None = None
    _seen: dict[int, list[NotebookNode]] = {}  # noqa: RUF012  (a new one for each run)
    """What each check has put out when it was over: a kernel can change what it displayed before."""
    _final: dict[int, list[NotebookNode]] = {}  # noqa: RUF012  (a new one for each notebook)
    """What those checks had put out first that were over when something was lent."""
    _spent = 0.0
    """Seconds that the cells of this notebook have taken in all its runs."""
    _granted = 0.0
    """Seconds for which cells of this kernel were waited for beyond their time limits."""
    _granted_before = 0.0
    """The same for this notebook's earlier kernels."""
    _suspects: dict[int, str] = {}  # noqa: RUF012  (a new one for each run)
    """The cells of this kernel that may have left behind what ends it later, and how that is called."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("kernel_manager_class", CourseKernelManager)
        super().__init__(*args, **kwargs)

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict, km: Any = None) -> Converted:
        book = course_notebook(resources)
        if book is None:
            return super().preprocess(nb, resources, km)  # not one of the course's: as nbgrader does
        given = {index for index, cell in enumerate(nb.cells) if CellNote.read(cell).given}
        for cell in nb.cells:
            cell.metadata.pop(NOTE, None)
        known = resources.get(NOTE, NotebookNote())
        known = resources[NOTE] = replace(known, seeds=known.seeds or fresh_seeds())
        self._left_out, self._final = {}, {}
        self._may_break, self._blamed = {}, {}
        self._spent = self._granted_before = 0.0
        self._lending = Lending(nb, book, known.seeds)
        self._own = {index for index, cell in enumerate(nb.cells) if cell.cell_type == "code"} - given
        self._own -= {*self._lending.checks}
        self._environment = environment(book, known.seeds)
        self._skipped = frozenset() if self.everything else skippable_cells(nb.cells, given)
        self._skipped_names = names_bound([nb.cells[index] for index in self._skipped])
        nb, resources = self._run(nb, resources, km)
        for index in self._skipped:
            nb.cells[index].outputs = [displayed(f"<small>{NOT_RUN}</small>", NOT_RUN)]
        for cell in (nb.cells[index] for index in given):  # for the feedback page
            replace(CellNote.read(cell), given=True).write(cell)
        return nb, resources

    def _run(self, nb: NotebookNode, resources: ResourcesDict, km: Any) -> Converted:
        """Run what must be run, again and again until nothing ends the kernel any more."""
        unreached, restarts = "", 0
        records: dict[int, list[NotebookNode]] = {}
        while not unreached:
            self._at = -1
            self._seen = {}
            self._granted = 0.0
            self._suspects = {}
            try:
                nb, resources = super().preprocess(nb, resources, km)
                break
            except _MissesAName:
                self._skipped = frozenset()
            except _CheckBroken as broken:
                self._try_without(nb.cells, broken.check)
            except _OverBudget:
                limits = f"{self.budget:g} time limits of {self.timeout} s"
                unreached = f"this notebook took more than {limits}, which all its runs together may take"
            except Exception as error:  # student code can send a kernel's messages, and make them as it likes
                if self._at < 0:
                    raise
                self._leave_out_after(error, nb.cells)
                restarts += 1
                if restarts > self.most_restarts:
                    unreached = f"{len(self._left_out)} cells of this notebook ended its kernel"
            self._granted_before += self._granted
            records |= self._seen
        records |= self._seen | self._final
        for index, cell in enumerate(nb.cells):
            if index in records and index not in self._left_out:
                cell.outputs = records[index]
            elif unreached and cell.cell_type == "code" and utils.is_grade(cell) and index not in self._left_out:
                cell.outputs = []
                CellNote(unreached=unreached).write(cell)
        return nb, resources

    def _leave_out_after(self, error: Exception, cells: list[NotebookNode]) -> None:
        """Leave out what this error says has ended the kernel, or may have."""
        for_memory = getattr(self._provisioner, "why", "") == "memory"
        aborted = getattr(self._provisioner, "exit_code", 0) == -signal.SIGABRT  # a library does so without memory
        earlier = {
            index: why
            for index, why in self._suspects.items()
            if index != self._at and (for_memory or aborted or why != TOO_MUCH)
        }
        if earlier:
            for index, why in earlier.items():
                self._leave_out(cells[index], index, why)
            return
        known = {DeadKernelError: "ended its kernel", CellTimeoutError: "could not be interrupted"}
        reason = known.get(type(error), "sent messages that can't be read")
        if for_memory:
            reason = TOO_MUCH
        self._leave_out(cells[self._at], self._at, reason)

    def _leave_out(self, cell: NotebookNode, index: int, reason: str) -> None:
        self.log.warning("Cell %d %s; the notebook is run again without it.", index, reason)
        self._left_out[index] = reason
        cell.outputs = [
            new_output("error", ename="LeftOut", evalue=f"This cell {reason}.", traceback=[f"This cell {reason}."])
        ]
        CellNote(left_out=reason).write(cell)

    def preprocess_cell(self, cell: NotebookNode, resources: ResourcesDict, index: int) -> Converted:
        if index not in self._left_out and index not in self._skipped:
            self._at, self._provisioner = index, self.km.provisioner
            if self._lending and self._is_over_budget():
                raise _OverBudget
            handed_in = cell.source
            if self._lending and index in self._lending.checks:
                cell.source = f"{OWN_CHECK}\n{handed_in}"
            began = time.monotonic()
            try:
                cell, resources = super().preprocess_cell(cell, resources, index)
            finally:
                self._spent += time.monotonic() - began
                cell.source = handed_in
            if self._took_much(cell):
                self._suspects.setdefault(index, TOO_MUCH)
            if self._skipped and _misses_a_name(cell, self._skipped_names):
                raise _MissesAName
        if self._lending and index in self._lending.checks:
            if index in self._final and index not in self._left_out:
                cell.outputs = deepcopy(self._final[index])
            elif self._may_be_mended(cell, index):
                raise _CheckBroken(index)
            self._seen[index] = deepcopy(cell.outputs)
            if lent := self._lending.after(cell, index):
                self._final = {**self._seen, **self._final}
                self.kc.execute(lent, silent=True, stop_on_error=False)
        return cell, resources

    def _may_be_mended(self, check: NotebookNode, index: int) -> bool:
        """Whether nothing has arrived from this check, and another run may tell why."""
        gave_up = self._may_break.keys() - self._blamed.keys()
        if index in self._left_out or gave_up or not _sent_nothing(check):
            return False
        if index in self._blamed:
            return True
        assert self._lending
        before = max((other for other in self._lending.checks if other < index), default=-1)
        between = [own for own in self._own - self._left_out.keys() if before < own < index]
        between.sort(key=lambda own: ("check" in self.nb.cells[own].source, own))
        self._may_break[index] = between[-MOST_SUSPECTS:]
        return bool(between)

    def _try_without(self, cells: list[NotebookNode], check: int) -> None:
        """Leave out the next cell that may have broken this check; one that was left out in vain is put back."""
        if (back := self._blamed.pop(check, None)) is not None:
            del self._left_out[back]
            cells[back].metadata.pop(NOTE, None)
        if self._may_break[check]:
            self._blamed[check] = self._may_break[check].pop()
            self._leave_out(cells[self._blamed[check]], self._blamed[check], BROKE_THE_CHECK)

    async def _async_is_over_budget(self) -> bool:
        """Whether all runs of this notebook have taken longer than they may, besides waiting for processors."""
        if self.timeout is None:
            return False
        left = self.budget * self.timeout + self._granted_before - self._spent
        waited = getattr(self.km.provisioner, "waited", None)
        return left < 0 and (waited is None or left + await waited() < 0)

    _is_over_budget = run_sync(_async_is_over_budget)

    def _took_much(self, cell: NotebookNode) -> bool:
        """Whether a cell has said more than is kept, or ran out of memory."""
        errors = {output.ename for output in cell.get("outputs", ()) if output.output_type == "error"}
        return "MemoryError" in errors or getattr(self.kc.iopub_channel, "is_full", False)

    async def _async_handle_timeout(self, timeout: int, cell: NotebookNode | None = None) -> dict[str, Any] | None:
        if waited := getattr(self.km.provisioner, "waited", None):
            while (owed := min(await waited(), self.patience * timeout) - self._granted) > 0.1:
                self._granted += owed
                if await self.kc.shell_channel.socket.poll(owed * 1000):
                    return None
            await self._async_check_alive()
        self._suspects[self._at] = "could not be interrupted"
        reply: dict[str, Any] | None = await super()._async_handle_timeout(timeout, cell)
        return reply

    async def async_start_new_kernel(self, **kwargs: Any) -> None:
        if self._environment is not None:
            kwargs.setdefault("env", self._environment)
            self.km.later = self._may_need(CourseKernelManager.preparation.later_modules)
        await super().async_start_new_kernel(**kwargs)

    start_new_kernel = run_sync(async_start_new_kernel)

    def _may_need(self, modules: Iterable[str]) -> bool:
        """Whether a cell that is run names the package of one of these modules. A wrong guess costs time only."""
        packages = {module.partition(".")[0] for module in modules}
        cells = [cell for index, cell in enumerate(self.nb.cells) if index not in self._skipped]
        return any(package in cell.source for cell in cells if cell.cell_type == "code" for package in packages)


class _MissesAName(Exception):
    """A cell needs a name that a skipped cell binds, so nothing may be skipped."""


class _CheckBroken(Exception):
    """Nothing has arrived from this check, by the index of its cell."""

    def __init__(self, check: int) -> None:
        super().__init__(check)
        self.check = check


class _OverBudget(Exception):
    """All runs of this notebook have taken as long as they may."""


def _sent_nothing(check: NotebookNode) -> bool:
    """Whether a check has come to its end, and sent no record."""
    # Torch, which a process that only names this step can do without.
    from anatomy.engine.observing.records import MIME

    errors = {output.ename for output in check.outputs if output.output_type == "error"}
    return errors.isdisjoint(INTERRUPTED) and not any(MIME in output.get("data", {}) for output in check.outputs)


def _misses_a_name(cell: NotebookNode, names: Set[str]) -> bool:
    """Whether this cell, or the answer that it looked at, ended with one of these names being undefined."""
    # Torch, which a process that only names this step can do without.
    from anatomy.engine.observing.records import MIME

    said = [
        str(output.evalue) if output.output_type == "error" else str(dict(output.data.get(MIME, {})).get("tree"))
        for output in cell.get("outputs", ())
        if output.output_type == "error" or isinstance(output.get("data", {}).get(MIME), dict)
    ]
    return any(f"name '{name}' is not defined" in text.replace("\\'", "'") for text in said for name in names)
