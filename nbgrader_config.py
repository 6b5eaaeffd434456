"""nbgrader's settings for this course. `nbgrader`, Formgrader, `anatomy build` and `anatomy grade` all read this."""

c = get_config()  # noqa: F821  (nbgrader defines it)

# ---- where things are: source/03-softmax/03-softmax.ipynb -> notebooks/03-softmax/03-softmax.ipynb ----------------
c.CourseDirectory.source_directory = "source"
c.CourseDirectory.release_directory = "notebooks"
c.CourseDirectory.submitted_directory = "submitted"
c.CourseDirectory.autograded_directory = "autograded"
c.CourseDirectory.feedback_directory = "feedback"
c.CourseDirectory.solution_directory = "solutions"

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
