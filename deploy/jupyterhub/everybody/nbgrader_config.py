"""nbgrader on the hub: where the exchange is. Everything else is in the course's own nbgrader_config.py."""

import os

c = get_config()  # noqa: F821  (nbgrader defines it)

c.CourseDirectory.course_id = "anatomy"
c.Exchange.root = os.environ["ANATOMY_EXCHANGE"]
if course := os.environ.get("ANATOMY_COURSE"):  # an instructor's server: nbgrader then reads that folder's settings
    c.CourseDirectory.root = course
