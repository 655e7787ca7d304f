"""`judge(request, policy, around)`: start reading here.

A request is taken apart; each part gets opinions, and the strictest of all is the verdict:
built-in bans, doubts, the owner's rules in their order (the first that fits), else ask.
Rule 1: total. Whatever comes, it never raises, and what it does not understand it asks about.
Rule 2: a part is judged by itself, so that adding one never makes a request more allowed.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator

from koboshi.core.readings import PromptKind, picked

from .banning import Breach, broken, by_touch
from .fitting import takes_call, takes_domain, takes_name, takes_touch
from .floors import floors
from .hazards import hazards
from .policies import SHELL_TOOLS, AnswerRule, Policy, is_host
from .requests import Opinion, Request, Surroundings, Word, stricter
from .scenes import Scene
from .sending import sends
from .serving import breaches, steers
from .shell.calls import Argument, Call, Script, Touch
from .shell.scripts import read_script
from .shell.trees import unreadable
from .shifts import WHY, through_shifts

__all__ = ["Opinion", "Policy", "Surroundings", "judge", "stricter"]

_DEFAULT = Opinion(verdict=Word.ASK, rule="default", why="no rule speaks of it")
#: What must be known of a tool before a rule may allow it.
_FILE_TOOLS = frozenset(
    "Edit Write MultiEdit NotebookEdit Read apply_patch replace write_file".split()
)
_HOST_TOOLS = frozenset({"WebFetch", "web_fetch"})
_SHOWN = 80
_DOUBTS = frozenset({"default", "unparsed", "unclear", "variables", "broad"})


def judge(request: Request, policy: Policy, around: Surroundings) -> Opinion:
    """What is thought of that request."""
    try:
        return judge_bare(request, policy, around)
    except Exception as error:  # noqa: BLE001 - a fault in here must end in a question, not in a yes
        return _asks("unparsed", f"it could not be judged ({type(error).__name__})")


def judge_bare(request: Request, policy: Policy, around: Surroundings) -> Opinion:
    """The same without a net under it, for fuzzers."""
    if request.kind is PromptKind.PERMISSION:
        found = _strictest(_parts(request, policy, Scene(around=around)))
    else:
        found = _of_kind(request, policy)
    if request.complete:
        return found
    return _strictest((found, _asks("incomplete", "not all of it was seen")))


def _asks(rule: str, why: str) -> Opinion:
    return Opinion(verdict=Word.ASK, rule=rule, why=why)


def _strictest(opinions: Iterable[Opinion]) -> Opinion:
    """The strictest; among equals the first, and any word before the default."""
    strictest: Opinion | None = None
    for each in opinions:
        if strictest is None or _weighs_more(each, strictest):
            strictest = each
        else:
            strictest = stricter(strictest, each)
    return strictest or _DEFAULT


def _weighs_more(each: Opinion, strictest: Opinion) -> bool:
    """Among equals: somebody's word before the default, "once" before "always"."""
    if each.verdict is not strictest.verdict:
        return False
    return strictest is _DEFAULT or (strictest.always and not each.always)


def _by_rules(policy: Policy, takes: Callable[[AnswerRule], bool]) -> Opinion:
    """What the first rule says that speaks of a part; a project's own may be stricter."""
    found = _first(policy.rules, takes)
    project = _first(policy.stricter, takes)
    return found if project is _DEFAULT else _strictest((found, project))


def _first(rules: Iterable[AnswerRule], takes: Callable[[AnswerRule], bool]) -> Opinion:
    for rule in rules:
        if takes(rule):
            why = rule.reason or f"{rule.name} says {rule.do.value}"
            return Opinion(verdict=rule.do, rule=rule.name, why=why, always=rule.always)
    return _DEFAULT


# -- kinds --------------------------------------------------------------------------------------


def _of_kind(request: Request, policy: Policy) -> Opinion:
    if request.kind is PromptKind.QUESTION:
        return _question(request, policy)
    settings = {PromptKind.PLAN: policy.plan, PromptKind.TRUST: policy.trust}
    word = settings.get(request.kind)
    if word is None:
        return _asks("kind", "a menu of this kind is never answered by rules")
    name = request.kind.value
    return Opinion(verdict=word, rule=f"answers.{name}", why=f"{name} is set to {word.value!r}")


def _question(request: Request, policy: Policy) -> Opinion:
    if why := unreadable(request.question):
        return _asks("unparsed", why.replace("the command", "the question"))
    for rule in policy.questions:
        if not rule.takes(request.question):
            continue
        fitting = picked(rule.answer, request.options)
        if request.options and (not fitting or (len(fitting) > 1 and not request.several)):
            return _asks(rule.name, f"{rule.answer!r} is not one of its options")
        text = ", ".join(fitting) or rule.answer
        why = f"the question fits {rule.pattern!r}"
        return Opinion(verdict=Word.ALLOW, rule=rule.name, why=why, text=text)
    return _DEFAULT


# -- parts --------------------------------------------------------------------------------------


def _parts(request: Request, policy: Policy, scene: Scene) -> Iterator[Opinion]:
    tool, cwd = request.tool, request.cwd or scene.around.worktree
    places = frozenset({cwd}) if posixpath.isabs(cwd) else None
    if request.command:
        found = _command(request, cwd if places else "", policy, scene)
        yield from _word_for_word(found) if request.command in policy.exact else found
    for path in request.paths:
        target = Argument(text=_from_home(path, scene))
        touch = Touch(target=target, places=places, writes=request.writes)
        yield from _touch(touch, tool, policy, scene)
    for domain in request.domains:
        if is_host(domain):
            yield _by_rules(policy, lambda rule, domain=domain: takes_domain(rule, domain, tool))  # type: ignore[misc]
        else:
            yield _asks("unparsed", "it names no host that can be told for sure")
    if not (request.command or request.paths or request.domains):
        needed = tool in SHELL_TOOLS or tool in _FILE_TOOLS or tool in _HOST_TOOLS
        if needed:
            yield _asks("incomplete", "it is not known what the tool would do")
        yield from _served(request, policy, scene)
        yield _by_rules(policy, lambda rule: takes_name(rule, request, scene))


def _served(request: Request, policy: Policy, scene: Scene) -> Iterator[Opinion]:
    """What speaks against the words that a server's tool is given."""
    for breach in breaches(request, scene):
        if breach.ban.name not in policy.overridden:
            yield _denied(breach, request.tool, policy, scene)
    if steers(request, scene):
        yield _asks("unclear", "it may be about what watches over the agent")


def _from_home(path: str, scene: Scene) -> str:
    return scene.around.home + path[1:] if path.startswith("~/") and scene.around.home else path


def _command(request: Request, cwd: str, policy: Policy, scene: Scene) -> Iterator[Opinion]:
    script = read_script(request.command, cwd=cwd, home=scene.around.home)
    for breach in broken(script, scene):
        if breach.ban.name not in policy.overridden:
            yield _denied(breach, request.tool, policy, scene)
    for why in script.doubts:
        yield _asks("unparsed", why)
    for name in script.assigned:
        if not policy.takes_variable(name):
            yield _asks("variables", f"it sets {name!r}, which may change what programs do")
    for call in script.calls:
        yield from _call(call, request.tool, policy, scene)
    for touch in script.touches:
        yield from _touch(touch, "", policy, scene)
    for _ in through_shifts(script, scene):
        yield _asks("unclear", WHY)
    for call, why in sends(script, scene):
        yield _asks("unclear", f"{_shown(call.name)!r}: {why}")
    if _is_empty(script):
        yield _DEFAULT


def _word_for_word(opinions: Iterable[Opinion]) -> Iterator[Opinion]:
    """The owner wrote down this very text: only a ban or a rule speaks against it."""
    yield Opinion(verdict=Word.ALLOW, rule="allow", why="it is allowed word for word")
    for each in opinions:
        if each.rule not in _DOUBTS:
            yield each


def _is_empty(script: Script) -> bool:
    return not any(not call.carrier for call in script.calls)


def _call(call: Call, tool: str, policy: Policy, scene: Scene) -> Iterator[Opinion]:
    for why in floors(call, scene):
        yield _asks("unclear", f"{_shown(call.name)!r}: {why}")
    rule = next((each for each in policy.rules if takes_call(each, call, tool, scene)), None)
    for why in hazards(call, rule) if rule and rule.do is Word.ALLOW else ():
        yield _asks("broad", f"{_shown(call.name)!r}: {why}; a rule must spell it out")
    found = _by_rules(policy, lambda rule: takes_call(rule, call, tool, scene))
    # Of `timeout 5 make` only `make` needs a rule; but one may forbid `timeout`.
    if not call.carrier or (found is not _DEFAULT and found.verdict is not Word.ALLOW):
        yield found


def _touch(touch: Touch, tool: str, policy: Policy, scene: Scene) -> Iterator[Opinion]:
    spots = scene.spots(touch.target, touch.places)
    for ban in by_touch(touch, scene):
        if ban.name not in policy.overridden:
            yield _denied(Breach(ban=ban, part=touch), tool, policy, scene)
    if spots is None or unreadable(touch.target.text):
        yield _asks("unclear", "a file that it touches is known only when it runs")
    if touch.writes and any("/.git/" in f"{spot}/" for spot in spots or ()):
        yield _asks("unclear", "it changes git's own files")
    found = _by_rules(policy, lambda rule: takes_touch(rule, touch, tool, scene))
    if tool or found is not _DEFAULT or not _goes_without_saying(touch, spots, scene):
        yield found


def _goes_without_saying(touch: Touch, spots: tuple[str, ...] | None, scene: Scene) -> bool:
    """A redirect to nowhere, or from a file of the worktree, needs no rule."""
    if spots is None:
        return False
    return all(spot == "/dev/null" or (not touch.writes and scene.inside(spot)) for spot in spots)


def _shown(said: str) -> str:
    """Words for a person: not too many, and no stand-in for what is known only at run time."""
    said = said.replace("\ue000", "…")
    return said if len(said) <= _SHOWN else f"{said[:_SHOWN]}…"


def _denied(breach: Breach, tool: str, policy: Policy, scene: Scene) -> Opinion:
    why = f"{_shown(breach.said)!r}: {breach.ban.reason}"
    part = breach.part
    found = _DEFAULT
    if isinstance(part, Call):
        found = _by_rules(policy, lambda rule: takes_call(rule, part, tool, scene))
    elif isinstance(part, Touch):
        found = _by_rules(policy, lambda rule: takes_touch(rule, part, tool, scene))
    if found.verdict is Word.ALLOW:
        why += f" ({found.rule} would allow it, and has no effect)"
    return Opinion(verdict=Word.DENY, rule=f"builtin:{breach.ban.name}", why=why)
