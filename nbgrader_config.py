"""nbgrader's settings for this course. `nbgrader`, Formgrader, `anatomy build` and `anatomy grade` all read this."""

from anatomy.classroom.grading import template_folders

c = get_config()  # noqa: F821  (nbgrader defines it)

# ---- where things are: source/03-softmax/03-softmax.ipynb -> notebooks/03-softmax/03-softmax.ipynb ----------------
c.CourseDirectory.source_directory = "source"
c.CourseDirectory.release_directory = "notebooks"
c.CourseDirectory.submitted_directory = "submitted"
c.CourseDirectory.autograded_directory = "autograded"
c.CourseDirectory.feedback_directory = "feedback"
c.CourseDirectory.solution_directory = "solutions"
c.CourseDirectory.ignore = [  # nbgrader's own, and what `anatomy assemble` writes: a release must not hand it out
    ".ipynb_checkpoints",
    "*.pyc",
    "__pycache__",
    "feedback",
    "my_transformer*.py",
]

# ---- nbgrader's exchange, where there is one: nothing that a student can write there is believed ---------------------
c.ExchangeFactory.collect = "anatomy.classroom.grading.exchange.Collect"
c.ExchangeFactory.release_feedback = "anatomy.classroom.grading.exchange.ReleaseFeedback"

# ---- the student edition -------------------------------------------------------------------------------------------
c.GenerateAssignment.preprocessors = [
    "nbgrader.preprocessors.LockCells",
    "anatomy.authoring.preprocessors.ClearAnswers",
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.CheckCellMetadata",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.SaveCells",
]
c.ClearSolutions.code_stub = {"python": "# YOUR CODE HERE\nraise NotImplementedError"}

# ---- marks: the kernel observes, this process judges. `anatomy grade`, `nbgrader autograde` and Formgrader agree ----
c.Autograde.pre_convert_hook = "anatomy.classroom.grading.assignments.register_if_missing"
c.Autograde.sanitize_preprocessors = [
    "anatomy.classroom.grading.preprocessors.Repair",
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.DeduplicateIds",
    "nbgrader.preprocessors.OverwriteKernelspec",
    "nbgrader.preprocessors.OverwriteCells",
    "nbgrader.preprocessors.CheckCellMetadata",
]
c.Autograde.autograde_preprocessors = [
    "anatomy.classroom.grading.preprocessors.RunAndObserve",
    "nbgrader.preprocessors.LimitOutput",
    "anatomy.classroom.grading.preprocessors.JudgeObservations",
    "anatomy.classroom.grading.preprocessors.PlainOutputs",
    "anatomy.classroom.grading.preprocessors.SaveMarks",
    "nbgrader.preprocessors.AssignLatePenalties",
]
c.Execute.timeout = 60  # seconds that one cell may take
c.Execute.extra_arguments = ["--log-level=ERROR"]
c.Execute.shutdown_kernel = "immediate"  # a polite shutdown takes a second and a half

# ---- `nbgrader export` without more: nbgrader's own table would replace `grades.csv` --------------------------------
c.ExportApp.plugin_class = "anatomy.classroom.grading.exports.CanvasExporter"

# ---- feedback: the verdict cards, and nothing of a student's that a browser would run ------------------------------
c.HTMLExporter.sanitize_html = True
c.GenerateFeedback.preprocessors = ["anatomy.classroom.grading.feedback.page.FillIn"]
c.GenerateFeedback.exporter_class = "anatomy.classroom.grading.feedback.page.FeedbackPage"
c.HTMLExporter.filters = {
    "ansi2html": "anatomy.classroom.grading.feedback.sanitize.ansi",
    "clean_html": "anatomy.classroom.grading.feedback.sanitize.clean",
    "highlight_code": "anatomy.classroom.grading.feedback.sanitize.highlight",
    "markdown2html": "anatomy.classroom.grading.feedback.sanitize.markdown",
}
c.HTMLExporter.extra_template_basedirs = template_folders()
