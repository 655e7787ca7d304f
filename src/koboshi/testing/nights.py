"""One simulated night: an agent, its faults and a person, all drawn from a seed.

Start reading at `Night.run`. The supervisor in it is the real one, with real journal, rules,
adapter and performers; only the terminal, the disk and the clock are not.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from koboshi.core.engine import World
from koboshi.core.events import Context, Order, OrderGiven
from koboshi.core.readings import Status
from koboshi.core.view import View, evolve
from koboshi.daemon.recover import reopen, take_over
from koboshi.daemon.supervisor import Supervisor
from koboshi.errors import HostError
from koboshi.observations import HookFired, PersonSeen, TasksSeen
from koboshi.rules import BUILTIN

from .agents import ScriptedAgent
from .disk import MemoryShelf
from .draws import draw_questions, draw_rarities, draw_script, draw_settings
from .hosts import FakeHost, Faults
from .kinds import Kind
from .laws import Laws, Violation
from .lines import Lines, advise
from .outside import Killed, Outside
from .runtime import FakeRuntime
from .watch import Watch

if TYPE_CHECKING:
    from koboshi.core.rules import Rule
    from koboshi.scripted.behaviour import Script
    from koboshi.store.journal import Journal

#: Seconds of the night with faults, and of the morning without.
NIGHT, MORNING = 900.0, 3000.0
#: Seconds for which a finished agent must stay down.
STAYS = 60.0
#: Percent of the context at which the agent refuses everything but /compact.
FULL = 100.0


class Night:
    """One seed, and the rules that look."""

    def __init__(self, seed: int, rules: tuple[Rule, ...] | None = None) -> None:
        self.seed, self.rules = seed, BUILTIN if rules is None else rules
        self.random = random = Random(seed)
        self.runtime = runtime = FakeRuntime()
        self.outside = Outside()
        more = Random(~seed)
        self.settings = draw_settings(random, more)
        script = self._with_rarities(draw_script(random, more))
        self.agent = ScriptedAgent(script=script, clock=lambda: (runtime.monotonic, runtime.utc))
        faulty = random.random() < 0.8
        faults = Faults(
            slow=random.choice((0.0, 0.1, 0.6)) * faulty,
            slow_seconds=random.choice((1.0, 8.0)),
            torn=random.choice((0.0, 0.1, 0.3)) * faulty,
            stale=random.choice((0.0, 0.1, 0.5)) * faulty,
        )
        self.host = FakeHost(
            self.agent,
            runtime,
            random=random,
            outside=self.outside,
            faults=faults,
            own=random.random() < 0.75,
        )
        self.kind = Kind(seed, noted=self.loses and self.host.own)
        self.settings = self.kind.tuned(self.settings)
        self.laws = Laws(self.host, self.settings, self.kind.notes)
        self.lines = self._lines()
        self.shelf: MemoryShelf = Watch(self.host, self.outside, self.laws).shelf
        self.faulty = faulty
        self.look_every = random.uniform(1.5, 5.0)
        self.supervisor: Supervisor | None = None
        self.back_at = 0.0
        self.calls: list[tuple[float, str]] = []
        self.hooks: list[tuple[float, float, dict[str, object]]] = []  #: due, how late, what
        self.lives = self.ticked = 0  #: supervisors, and boxes in the tasks file
        self.draft_until = -1.0
        self.ended_at = float("inf")  #: when a finished agent was first seen to have ended
        self.still = 1  #: looks' worth of time until the next look
        self.was_still: tuple[object, ...] = ()

    def _with_rarities(self, script: Script) -> Script:
        """The script, with what befalls few nights: drawn apart, so that the others stay."""
        rare = Random(f"rare {self.seed}")
        script = draw_rarities(rare, script)
        self.dies_asking = rare.random() < 0.2  #: it is killed in the middle of a call
        self.loses = rare.random() < 0.1  #: the session of a run that crashed is not found
        self.holds = rare.choice((0.0, 0.0, 30.0, 120.0))  #: and another process has it meanwhile
        self.leaves = rare.random() < 0.5  #: and its tool goes on
        self.settings = evolve(self.settings, leftovers=rare.choice(("tell", "end")))
        asks = Random(f"questions {self.seed}")
        self.waits = asks.choice((0.0, 0.8, 1.0))  #: share of its hooks that wait for an answer
        late = asks.choice(((0.0, "leave"), (0.0, "leave"), (120.0, "deny")))
        self.settings = evolve(self.settings, ask_for=late[0], ask_then=late[1])
        self.asks = asks
        return draw_questions(asks, script)

    def _lines(self) -> Lines:
        lines = Lines(self.agent, self.runtime, self.outside, self.laws)
        lines.slow = lambda: self.asks.choice((0.0, 0.0, 0.3, 3.0)) * self.faulty
        return lines

    # -- the night ------------------------------------------------------------------------------

    def run(self) -> None:
        """The whole night and the morning after; raises Violation."""
        try:
            self._run()
        finally:
            self.runtime.kill()
            self.kind.close()

    def _run(self) -> None:
        self._arm()
        while self.runtime.monotonic < NIGHT and not self._finished():
            self._live(befall=True)
        self._dawn()
        while self.runtime.monotonic < NIGHT + MORNING and not self._finished():
            self._live()
        self.laws.check_runs()
        self._check_finished()

    def journal(self) -> bytes:
        """All that was written, segment by segment."""
        return b"".join(self.shelf.read(name) for name in self.shelf.names())

    def _finished(self) -> bool:
        running, now = self.agent.running, self.runtime.monotonic
        if running is None or not running.done or not self.settings.tasks:
            return running is not None and running.done
        if running.exit is None:
            self.ended_at = float("inf")
            return False
        self.ended_at = min(self.ended_at, now)
        return now > self.ended_at + STAYS

    def _live(self, *, befall: bool = False) -> None:
        """One look's worth of time; while nothing moves, up to three times as much."""
        before = self._still()
        self.still = min(self.still + 1, 3) if before == self.was_still else 1
        self.was_still = before
        until = self.runtime.monotonic + self.look_every * self.still
        try:
            if befall:
                self._befall()
            if self.supervisor is None and self.runtime.monotonic >= self.back_at:
                self._rise()
            self.runtime.run_until(until)
            self.agent.advance()
            self._tell_hooks()
            self._person()
            self._observe()
        except Killed:
            self._fall()
        self.runtime.monotonic = max(self.runtime.monotonic, until)
        self.laws.check_runs()

    def _still(self) -> tuple[object, ...]:
        """What must not change for a stretch to be a quiet one."""
        view = self.supervisor.world.view if self.supervisor else None
        screen = self.agent.running.screen() if self.agent.running else ""
        return (screen, view and view.status, self.runtime.next_due(), self.lives, len(self.calls))

    def _observe(self) -> None:
        supervisor = self.supervisor
        if supervisor is None:
            return
        place = supervisor.place
        if place is not None:
            try:
                seen = self.host.seen(place, unreliable=True)
            except HostError:
                return
            supervisor.observe(supervisor.hands.ours(seen, place))
        if self.settings.tasks:
            supervisor.observe(TasksSeen(text=self._tasks()))
        supervisor.tick()

    def _tasks(self) -> str:
        """The tasks file: a box for each act, ticked by the agent."""
        running = self.agent.running
        self.ticked = max(self.ticked, running.progress if running is not None else 0)
        total = len(self.agent.script)
        return "\n".join(f"- [{'x' if n < self.ticked else ' '}] act" for n in range(total))

    # -- the supervisor's lives -----------------------------------------------------------------

    def _rise(self) -> None:
        """A supervisor starts, as it does in production: from the journal."""
        self.lives += 1
        context = Context(agent="sim", agent_type=self.kind.name, worktree="work")
        blank = World(view=View(context=context, settings=self.settings), rules=self.rules)
        try:
            supervisor, recovered = reopen(self.shelf, blank, self.runtime, self._assemble)
        except OSError:
            return  # no room for a journal, no supervision: it tries again at the next turn

        async def live() -> None:
            await take_over(supervisor, recovered)
            if supervisor.world.view.run.number == 0:
                supervisor.take(OrderGiven(order=Order.START, by="person"))
            self.supervisor = supervisor

        self.back_at = float("inf")
        self.runtime.spawn(live())

    def _assemble(self, world: World, journal: Journal) -> Supervisor:
        supervisor = Supervisor(
            world=world,
            journal=journal,
            adapter=self.kind.adapter,
            host=self.host,
            program=self.kind.program(),
            runtime=self.runtime,
            announce=self._announce,
        )
        supervisor.hands.transcript = self.agent.transcript
        supervisor.hands.session_users = self.agent.users
        supervisor.hands.left_running = self.agent.outlived
        supervisor.hands.advise = advise
        supervisor.hands.held = self.lines.get
        return supervisor

    def _fall(self) -> None:
        """It was killed: what was not synced is lost, the agent lives on."""
        self.supervisor = None
        self.lines.fall()
        self.runtime.kill()
        self.shelf.crash(self.random)
        self.back_at = self.runtime.monotonic + self.random.uniform(0, 60)
        self._arm()

    def _arm(self) -> None:
        """Choose the touch of the outside at which the next kill comes."""
        if not self.faulty or self.runtime.monotonic > NIGHT or self.lives > 4:
            self.outside.kill_at = -1
            return
        self.outside.kill_at = self.outside.touches + int(self.random.expovariate(1 / 150)) + 1

    # -- what befalls ---------------------------------------------------------------------------

    def _befall_rarely(self) -> None:
        """Once in a night, in few nights."""
        running = self.agent.running
        if running is None:
            return
        if self.dies_asking and running.dialog is not None:
            self.dies_asking = False
            self.agent.end(9)
            self.agent.left = ("4711 make",) if self.leaves else ()
            self.agent.held_until = self.runtime.monotonic + self.holds
        crashed = running.exit is not None and running.exit.code != 0
        if self.loses and crashed and not self.agent.notes:
            self.loses = False
            self.agent.lose()
            self.kind.lose(self.supervisor.hands if self.supervisor else None)

    def _befall(self) -> None:
        self._befall_rarely()
        if not self.faulty:
            return
        dice = self.random.random()
        if dice < 0.003:
            self.runtime.utc_ahead += self.random.uniform(-300, 600)
        elif dice < 0.008:
            self.host.veil(self.random.uniform(1, 30))
        elif dice < 0.012 and self.host.alive:
            self.agent.end(self.random.choice((9, 15)))
        elif dice < 0.020 and self.draft_until < 0:
            self._begin_to_type()
        elif dice < 0.022:
            self.shelf.full = True
        elif dice < 0.050 and self.agent.running is not None and self.agent.running.dialog:
            # Something new above an open dialog is not another dialog.
            self.agent.mutter("a background task has ended")
        elif dice < 0.10:
            self.shelf.full = False

    def _begin_to_type(self) -> None:
        running = self.agent.running
        if self.host.alive and (running is None or running.status not in ("idle", "working")):
            return
        if self.host.alive and running is not None and running.draft:
            return
        self.host.person(self.random.choice(("please als", "git sta", "日本語")))
        self.draft_until = self.runtime.monotonic + self.random.uniform(5, 60)
        if self.supervisor is not None and self.random.random() < 0.5:
            self.supervisor.observe(PersonSeen())

    def _dawn(self) -> None:
        """No more faults; the person has come back."""
        faults = self.host.faults
        faults.slow = faults.torn = faults.stale = 0.0
        faults.veiled_until = -1.0
        self.shelf.full = False
        self.faulty = False
        self.outside.kill_at = -1

    # -- hooks and people -----------------------------------------------------------------------

    def _tell_hooks(self) -> None:
        """Hooks are lost, late or told twice."""
        fired, self.agent.hooks = self.agent.hooks, []
        self.kind.heed(self.agent, self.supervisor.hands if self.supervisor else None)
        now = self.runtime.monotonic
        self.lines.pass_time(self.supervisor)
        for payload in fired:
            asks = payload["hook_event_name"] == "PermissionRequest" and self.supervisor
            if asks and self.supervisor and self.asks.random() < self.waits:
                self.lines.ask(self.supervisor, payload)  # its shim found who holds its line
                continue
            if self.faulty and self.random.random() < 0.2:
                continue
            late = self.random.uniform(0, 20) if self.faulty and self.random.random() < 0.2 else 0
            copies = 2 if self.faulty and self.random.random() < 0.1 else 1
            self.hooks.extend([(now + late, late, payload)] * copies)
        due = [h for h in self.hooks if h[0] <= now]
        self.hooks = [h for h in self.hooks if h[0] > now]
        if self.supervisor is not None:
            for at, late, payload in due:
                self.supervisor.observe(HookFired(payload=payload, age=late + now - at))

    def _announce(self, text: str) -> None:
        outage = self.agent.outage
        if outage is not None and self.runtime.utc < outage[0] and f"({outage[1]})" in text:
            return  # who is told of an outage can only wait
        self.calls.append((self.runtime.monotonic + self.random.uniform(5, 60), text))

    def _person(self) -> None:
        now = self.runtime.monotonic
        if 0 <= self.draft_until <= now:
            self._leave_the_box()
        due = [text for at, text in self.calls if at <= now]
        if due and self.supervisor is not None:
            if any("shows no progress" in text for text in due) and self._hangs():
                self.agent.key("Escape")
            self._see_to_it()  # if the supervisor dies meanwhile, the person tries again
            self.calls = [c for c in self.calls if c[0] > now]

    def _leave_the_box(self) -> None:
        """The person sends the line or takes it back."""
        self.draft_until = -1.0
        if not self.host.alive:
            self.host.clear_line()
        elif self.agent.running is not None and self.agent.running.dialog is None:
            self.agent.key("C-u")
        else:
            return  # a dialog is in the way; the line stays behind it
        self.agent.person_draft = ""

    def _see_to_it(self) -> None:
        """Answer the open question and acknowledge."""
        running = self.agent.running
        if running is not None and running.dialog is not None:
            self.agent.key("1")
        elif self.draft_until < 0 and (self._line_left() or self.host.shell_line):
            self._leave_the_box()
        elif running is not None and running.status == "failed" and running.context >= FULL:
            self.agent.key("C-u")
            self.agent.paste("/compact")
            self.agent.key("Enter")
        if self.supervisor is not None:
            self.laws.acknowledged()
            if not self.supervisor.take(OrderGiven(order=Order.ACKNOWLEDGE, by="person")):
                self._announce("not accepted: try again")

    def _hangs(self) -> bool:
        """Whether a person who looks at it sees that it hangs."""
        running = self.agent.running
        still = self.runtime.monotonic - running.moved_at if running is not None else 0.0
        return running is not None and running.status == "working" and still > NIGHT / 20

    def _line_left(self) -> bool:
        """Whether a line stands in the box that nobody is typing."""
        busy = self.supervisor is not None and self.supervisor.world.ledger.in_flight()
        draft = self.agent.running.draft if self.agent.running else ""
        return bool(self.agent.person_draft or draft) and not busy

    # -- at the end -----------------------------------------------------------------------------

    def _check_finished(self) -> None:
        """Nothing is stuck while an admissible action exists."""
        if self._finished():
            self.kind.check(self.agent)
            return
        view = self.supervisor.world.view if self.supervisor else None
        if view is not None and view.run.exit is not None and view.run.exit.meant:
            return  # somebody wanted it to end
        status = self.agent.running.status if self.agent.running else "never started"
        known = view.status if view else Status.UNKNOWN
        raise Violation(f"stuck: the agent is {status}, koboshi believes {known}")
