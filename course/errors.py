"""The errors that the course reports to a person; every message says the rule, what arrived and what to do."""


class CourseError(Exception):
    """Something outside the program is not as it must be; the message is one line and says what to do."""
