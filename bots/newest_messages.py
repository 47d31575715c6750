"""Whether an answer stands right below its question, where the two of them are alone: else it is sent as a reply."""

from collections import OrderedDict

_REMEMBERED = 2_000


class Newest:
    """The newest message of each place, as far as it was seen; ids are numbers that grow."""

    def __init__(self) -> None:
        """Begin with no place."""
        self._newest: OrderedDict[str, int] = OrderedDict()

    def saw(self, place: str, message: int) -> None:
        """Note a message, whoever wrote it."""
        self._newest[place] = max(message, self._newest.get(place, 0))
        self._newest.move_to_end(place)
        while len(self._newest) > _REMEMBERED:
            self._newest.popitem(last=False)

    def is_after(self, place: str, message: int) -> bool:
        """Tell whether something was said after a message."""
        return self._newest.get(place, 0) > message
