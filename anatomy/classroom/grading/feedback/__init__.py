"""What students get back: a page for each graded notebook, in which nothing of a student's runs in a browser."""
