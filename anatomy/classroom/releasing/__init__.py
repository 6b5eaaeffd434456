"""`anatomy release`: the course as a class gets it while the answers stay with its instructor.

`contents` says what is in that edition and what is not, `writing` puts it into a folder or a zip file. In the edition
the checks of a notebook send what they observed to the class's judge (`anatomy serve`), which has the answers.
"""
