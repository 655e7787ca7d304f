"""All built-in rules in the order in which they look; what is more urgent stands first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from koboshi.errors import UnknownRule

from . import (
    context,
    forced,
    hangs,
    idle,
    limits,
    livelock,
    messages,
    plans,
    probes,
    prompts,
    refresh,
    reload,
    runs,
    tasks,
    texts,
    timebox,
)
from . import errors as failures

if TYPE_CHECKING:
    from koboshi.core.rules import Rule

BUILTIN: tuple[Rule, ...] = (
    runs.run_unwanted,
    runs.run_wanted,
    refresh.session_left_behind,
    runs.run_ended_badly,
    runs.restart_budget_spent,
    runs.start_held_up,
    runs.run_ended_as_meant,
    runs.status_unknown,
    reload.reload_asked,
    reload.reload_not_told,
    reload.reload_stuck,
    runs.call_left_open,
    runs.tools_outlived_crash,
    prompts.question_answered_by_person,
    prompts.question_not_judged,
    prompts.question_open_to_policy,
    prompts.question_denied_by_policy,
    prompts.question_nobody_answers,
    prompts.question_waits_for_person,
    prompts.refusal_not_told,
    messages.message_waiting,
    messages.person_asked_for,
    refresh.work_not_saved,
    refresh.old_run_still_up,
    refresh.new_run_missing,
    refresh.note_not_loaded,
    refresh.refresh_stuck,
    limits.limit_reached,
    limits.limit_menu_open,
    limits.limit_has_reset,
    limits.limit_outlived,
    tasks.finished_work_not_saved,
    tasks.finished_run_still_up,
    tasks.all_tasks_done,
    hangs.turn_without_progress,
    hangs.turn_seems_stuck,
    hangs.turn_was_interrupted,
    livelock.circle_without_end,
    livelock.circle_not_left,
    livelock.same_call_again,
    forced.turn_without_boundary,
    context.context_nearly_full,
    timebox.run_too_old,
    context.context_filling_up,
    failures.login_refused,
    failures.account_empty,
    failures.run_broken_by_errors,
    failures.request_refused,
    failures.turn_failed,
    failures.failing_again_and_again,
    failures.outage_goes_on,
    tasks.note_too_old,
    probes.context_not_told,
    idle.idle_too_long,
    idle.nudge_without_effect,
    idle.half_typed_line_left,
    texts.fatal_words_printed,
    texts.same_error_again,
    texts.memory_exhausted,
    texts.limit_printed,
    texts.nothing_printed,
    texts.run_ended_with_error,
    texts.turn_broken_off,
)

#: Those that look at a plan, and all.
PLANS: tuple[Rule, ...] = plans.PLANS
ALL: tuple[Rule, ...] = (*BUILTIN, *PLANS)


def find(code: str) -> Rule:
    """The rule of that code or name."""
    for rule in ALL:
        if code.upper() == rule.code or code.lower() == rule.name:
            return rule
    raise UnknownRule(
        f"expected a rule code such as 'RUN001', not {code!r}", hint="'koboshi rules' lists them"
    )
