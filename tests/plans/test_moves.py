"""Moves are known by what they were decided about: a journal of an earlier koboshi has these."""

from __future__ import annotations

from koboshi.plans import moves


def test_the_key_of_each_move() -> None:
    """The same again is the same key, whatever was found wrong meanwhile."""
    made: dict[str, moves.Move] = {
        "2.1.start": moves.StartStep(step=2, attempt=1, wrong="{self}"),
        "2.task_a.verify": moves.VerifyStep(step=2, task="task_a"),
        "2.task_a.commit": moves.CommitStep(step=2, task="task_a", evidence="x"),
        "2.give-up": moves.GiveUp(step=2, question="?"),
        "halt": moves.Halt(why="x"),
        "finish": moves.Finish(),
        "plan": moves.MakePlan(),
        "task_a.take": moves.TakePlan(task="task_a"),
        "2.revise": moves.RevisePlan(step=2),
        "2.task_a.take": moves.TakeRevision(step=2, task="task_a"),
    }

    assert {moves.Act(move=each).key: each for each in made.values()} == made
