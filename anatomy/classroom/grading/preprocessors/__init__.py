"""nbgrader's steps, as this course needs them: repair, run, judge, save. Named in ``nbgrader_config.py``.

`nbgrader autograde`, Formgrader's button and `anatomy grade` all run these, so they give the same marks.
"""

from anatomy.classroom.grading.preprocessors.judge_observations import JudgeObservations
from anatomy.classroom.grading.preprocessors.plain_outputs import PlainOutputs
from anatomy.classroom.grading.preprocessors.repair import Repair
from anatomy.classroom.grading.preprocessors.run_and_observe import RunAndObserve
from anatomy.classroom.grading.preprocessors.save_marks import SaveMarks

__all__ = ["JudgeObservations", "PlainOutputs", "Repair", "RunAndObserve", "SaveMarks"]
