"""Says times as people read them."""

from datetime import UTC, datetime


def moment(text: str) -> datetime | None:
    """Return a time in ISO 8601 as a time in UTC, None for an empty text; a time without a zone is in UTC."""
    if not text:
        return None
    time = datetime.fromisoformat(text)
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def long_time(text: str) -> str:
    """Return a time in ISO 8601 as `5 March 2026, 14:30 UTC`."""
    time = moment(text)
    return f"{time.day} {time:%B %Y, %H:%M} UTC" if time else ""


def short_time(text: str) -> str:
    """Return a time in ISO 8601 as `2026-03-05 14:30`, in UTC. In this form, times sort as text."""
    time = moment(text)
    return f"{time:%Y-%m-%d %H:%M}" if time else ""
