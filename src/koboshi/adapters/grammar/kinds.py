"""What a dialog is about, and what choosing each of its options does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.core.readings import Meaning, Option, PromptKind

if TYPE_CHECKING:
    from .manifests import DialogGrammar
    from .options import Listed
    from .subjects import Body

#: What a key may refuse where no option does.
_DISMISSED = (PromptKind.PLAN, PromptKind.QUESTION)


def kind_of(
    grammar: DialogGrammar, body: Body, question: str, options: tuple[str, ...], hint: str
) -> tuple[PromptKind, str]:
    """The first kind whose sign it bears, and the name of that sign; else a menu."""
    for sign in grammar.kinds:
        match sign.where:
            case "title":
                texts: tuple[str, ...] = (body.title,)
            case "options":
                texts = options
            case "hint":
                texts = (hint,)
            case "body":
                texts = tuple(row for row in body.rows if row)
            case _:
                texts = (question,)
        if any(sign.pattern.search(text) for text in texts):
            return sign.kind, sign.name
    return PromptKind.PICKER, "menu"


def _meaning(grammar: DialogGrammar, kind: PromptKind, text: str) -> Meaning:
    for sign in grammar.meanings:
        if (not sign.kinds or kind in sign.kinds) and sign.pattern.search(text):
            return sign.meaning
    return Meaning.OTHER


def meant_options(
    grammar: DialogGrammar, kind: PromptKind, listed: Listed, keys: tuple[str, ...]
) -> tuple[Option, ...]:
    """Its rows with what they mean."""
    boxes = listed.checked or (None,) * len(keys)
    return tuple(
        Option(text=text, meaning=_meaning(grammar, kind, text), key=key, checked=checked)
        for text, key, checked in zip(listed.texts, keys, boxes, strict=True)
    )


def dismissed_by(grammar: DialogGrammar, kind: PromptKind, options: tuple[Option, ...]) -> str:
    """The key that refuses it, where no option does."""
    refuses = any(option.meaning is Meaning.NO for option in options)
    return "" if refuses or kind not in _DISMISSED else grammar.dismiss
