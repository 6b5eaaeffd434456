"""How often somebody may ask, and answers that are given again to who asks the same."""

from __future__ import annotations

import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable


class Bucket:
    """A token bucket: `burst` at once, and `rate` a second."""

    def __init__(self, rate: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate, self.burst, self._clock = rate, burst, clock
        self._tokens, self._at = float(burst), clock()

    def take(self) -> float:
        """Take one; 0 if there was one, else the seconds until there is."""
        now = self._clock()
        self._tokens = min(self.burst, self._tokens + (now - self._at) * self.rate)
        self._at = now
        if self._tokens < 1:
            return (1 - self._tokens) / self.rate
        self._tokens -= 1
        return 0.0

    def give_back(self) -> None:
        """What was taken last should not have counted."""
        self._tokens = min(self.burst, self._tokens + 1)


class Users:
    """A bucket for each user, and one check at a time. `busy` are those who have one at work."""

    def __init__(self, a_minute: int = 40, burst: int = 20, clock: Callable[[], float] = time.monotonic) -> None:
        self._buckets: defaultdict[str, Bucket] = defaultdict(lambda: Bucket(a_minute / 60, burst, clock))
        self.busy = set[str]()

    def enter(self, user: str) -> float:
        """Begin a check; 0 if this user may, else the seconds to wait."""
        if user in self.busy:
            return 1.0
        if not (wait := self._buckets[user].take()):
            self.busy.add(user)
        return wait

    def leave(self, user: str) -> None:
        self.busy.discard(user)


class Answers:
    """The latest answers by what they answer, up to so many bytes."""

    def __init__(self, most: int = 64 * 2**20) -> None:
        self.most, self._size = most, 0
        self._known: OrderedDict[bytes, bytes] = OrderedDict()

    def get(self, key: bytes) -> bytes | None:
        if key in self._known:
            self._known.move_to_end(key)
        return self._known.get(key)

    def put(self, key: bytes, answer: bytes) -> None:
        self._size += len(answer) - len(self._known.pop(key, b""))
        self._known[key] = answer
        while self._size > self.most:
            self._size -= len(self._known.popitem(last=False)[1])
