"""`grader mark`."""
