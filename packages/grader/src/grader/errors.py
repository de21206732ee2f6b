"""Defines the errors that the grader reports to a person: one line with the rule, what arrived and what to do."""


class GraderError(Exception):
    """A rule is broken by something outside the program; the message is one line and says what to do."""

    def __init__(self, message: str = "", details: tuple[str, ...] = ()) -> None:
        """Keep the message, and further lines for a terminal."""
        super().__init__(message)
        self.details = details


class UnsoundSource(GraderError):
    """Our own solution fails a test of its notebook; `details` are lines on each fault."""


class UnreadableFile(GraderError):
    """A file cannot be read or is not a notebook."""

    def __init__(
        self, why: str, to_do: str = "ask the student for it again", yours: str = "save it once more in JupyterLab"
    ) -> None:
        """Join the first two parts into the message.

        Args:
            why: the problem with the file.
            to_do: the remedy for an instructor.
            yours: the remedy for the student, who has the file.
        """
        super().__init__(f"{why}: {to_do}")
        self.why, self.to_do, self.yours = why, to_do, yours

    @property
    def to_student(self) -> str:
        """The message for the student."""
        return f"{self.why}: {self.yours}"


class SandboxUnavailable(GraderError):
    """The kernel cannot confine a process, or a process was not confined; the message says what is missing."""
