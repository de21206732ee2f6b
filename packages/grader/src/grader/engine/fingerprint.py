"""Defines the fingerprint of wrong behaviour, by which students who made the same mistake are found.

recorded calls of tests --diagnosis.fingerprints--> Fingerprint --is_like--> the same behaviour, or not
"""

import msgspec

RELATIVE, ABSOLUTE = 1e-4, 1e-6
"""Tolerances within which numbers are alike, as multiples of the typical number of a reply, and beyond that."""


class Fingerprint(msgspec.Struct, array_like=True, frozen=True):
    """The replies of an exercise's code to its tests.

    `structure` is a digest of all that must be equal: kinds of replies and errors, shapes, dtypes, integers, texts.
    `drawn` is a digest of all that the code drew at random, '' if that is nothing. `numbers` has two floats for
    each reply with real numbers: their root mean square, and a projection of them.
    """

    structure: str
    drawn: str = ""
    numbers: tuple[float, ...] = ()

    def is_like(self, other: "Fingerprint") -> bool:
        """Return whether both behave alike in every test, up to rounding."""
        if (self.structure, self.drawn, len(self.numbers)) != (other.structure, other.drawn, len(other.numbers)):
            return False
        pairs = zip(self.numbers[::2], self.numbers[1::2], other.numbers[::2], other.numbers[1::2], strict=True)
        for size, projection, other_size, other_projection in pairs:
            allowed = RELATIVE * max(size, other_size) + ABSOLUTE
            if abs(size - other_size) > allowed or abs(projection - other_projection) > allowed:
                return False
        return True
