"""Where a hand-over note stands in what the model is told: in a message, or before all of them."""

from __future__ import annotations

import re

from tests.lab.model.server import Model, Request

#: The number that the model has to say, for `match` of a turn.
NUMBER = r"number (\d{5}) (?:between|for run)"
_NOTE = re.compile(r"(?i)hand-over note (?:follows|number)")


#: What a run is told that has its note; with some models that stands in a system message.
_GIVEN = "was given to you when this session began"


def handed_over(model: Model) -> list[Request]:
    """The requests in which a note was new."""
    return [request for request in model.asked if request.main and _is_new(request)]


def _is_new(request: Request) -> bool:
    text = str(request.body) if _GIVEN in request.told else request.told
    return _NOTE.search(text) is not None
