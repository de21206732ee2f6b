"""Counts requests and hand-ins for Prometheus, without names of students."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest


class Metrics:
    """The metrics of one service."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self.requests = Counter(
            "grader_requests", "Requests by status code.", ["status"], registry=self._registry
        )  # fmt: skip
        self.accepted = Counter("grader_hand_ins_accepted", "Hand-ins that got a receipt.", registry=self._registry)
        self.failures = Counter("grader_failures", "Hand-ins to be graded again.", registry=self._registry)
        self.waiting = Gauge("grader_hand_ins_waiting", "Hand-ins in the queue.", registry=self._registry)
        self.grading = Gauge("grader_hand_ins_grading", "Hand-ins being graded.", registry=self._registry)
        self.connections = Gauge("grader_connections", "Open connections.", registry=self._registry)
        self.uploads = Gauge("grader_upload_bytes", "Bytes of hand-ins being received.", registry=self._registry)
        self.seconds = Histogram(
            "grader_report_seconds", "Seconds from arrival to report.",
            buckets=(0.1, 0.2, 0.5, 0.7, 1, 2, 5, 10, 30, 60, 300), registry=self._registry,
        )  # fmt: skip

    def text(self) -> bytes:
        """Return the current values in the text format of Prometheus."""
        return generate_latest(self._registry)
