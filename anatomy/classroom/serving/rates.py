"""How often somebody may ask, and answers that are given again to who asks the same."""

from __future__ import annotations

import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable

MOST_ADDRESSES = 10_000
"""Addresses of which it is known how many unknown keys came from there."""

LARGEST_KEPT = 2**18
"""Bytes of an answer beyond which it is not kept: it takes the room of many others."""

OF_ONE_ADDRESS, OF_ALL = (1.0, 60), (5.0, 300)
"""Unknown keys that are looked at: so many a second, and so many at once."""


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


class Strangers:
    """How many unknown keys are looked at: of one address, and of all together."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.all = Bucket(*OF_ALL, clock)
        self._of: OrderedDict[str, Bucket] = OrderedDict()
        self._clock = clock

    def take(self, address: str) -> float:
        """Look at one; 0 if that may be, else the seconds until it may. Who waits costs the others nothing."""
        mine = self._of.pop(address, None) or Bucket(*OF_ONE_ADDRESS, self._clock)
        self._of[address] = mine
        if len(self._of) > MOST_ADDRESSES:
            self._of.popitem(last=False)
        if not (wait := mine.take()) and (wait := self.all.take()):
            mine.give_back()
        return wait

    def give_back(self, address: str) -> None:
        """The key that was looked at last is somebody's."""
        self.all.give_back()
        if address in self._of:
            self._of[address].give_back()


class Losses:
    """Who has lost workers, and how long they wait for it: some seconds, twice as many each time, up to a most.

    Parameters
    ----------
    first, most
        Seconds of the first pause and of the longest one.
    forgiven
        Seconds without a further loss after which none counts any more.
    """

    def __init__(self, first: float = 5, most: float = 600, forgiven: float = 3600,
                 clock: Callable[[], float] = time.monotonic) -> None:  # fmt: skip
        self.first, self.most, self.forgiven, self._clock = first, most, forgiven, clock
        self._of: dict[str, tuple[int, float]] = {}  # how many, and when the last one was

    def note(self, user: str) -> None:
        """A worker has ended with this user's request."""
        self._of[user] = self.count(user) + 1, self._clock()

    def count(self, user: str) -> int:
        """The losses that count."""
        many, at = self._of.get(user, (0, 0.0))
        return many if self._clock() - at < self.forgiven else 0

    def wait(self, user: str) -> float:
        """The seconds until this user may ask again."""
        if not (many := self.count(user)):
            return 0.0
        pause = min(self.most, self.first * 2 ** min(many - 1, 30))
        return max(0.0, self._of[user][1] + pause - self._clock())


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
        if len(answer) > LARGEST_KEPT:
            return
        self._size += len(answer) - len(self._known.pop(key, b""))
        self._known[key] = answer
        while self._size > self.most:
            self._size -= len(self._known.popitem(last=False)[1])
