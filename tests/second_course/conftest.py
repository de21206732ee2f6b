"""Keeps nbval from executing the notebook of this course: tests/test_second_course.py grades it."""

collect_ignore_glob = ["source/*"]
