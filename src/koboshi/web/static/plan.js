// One plan: its steps with what came of each, what it asks, why it did what it did; and the orders.

import { get, maySteer, post } from "./api.js";
import { confirmed } from "./dialog.js";
import { h, setText } from "./dom.js";
import { on, plans } from "./live.js";
import { factsOf, mark, toneOf } from "./plans.js";
import { clock } from "./words.js";

const STEP_TONES = { DONE: "working", RUNNING: "starting", PENDING: "stopped", FAILED: "failed", SKIPPED: "released" };
const STEP_SHAPES = { DONE: "working", RUNNING: "starting", PENDING: "idle", FAILED: "failed", SKIPPED: "gone" };
const STEP_WORDS = { DONE: "done", RUNNING: "at work", PENDING: "to do", FAILED: "failed", SKIPPED: "skipped" };

export function planView(id) {
  const path = (word = "") => `/api/plans/${encodeURIComponent(id)}${word ? `/${word}` : ""}`;
  const badge = h("span", { class: "badge" });
  const name = h("span", { class: "name" }, id);
  const word = h("span", { class: "word" });
  const goal = h("p", { class: "goal" });
  const constraints = h("p", { class: "hint" });
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const facts = h("ul", { class: "facts" });
  const asks = h("section", { class: "question", "aria-labelledby": "asks", hidden: true });
  const steps = h("ol", { class: "steps" });
  const orders = h("div", { class: "buttons" });
  const outcome = h("p", { class: "outcome", role: "status", "aria-live": "polite" });
  const chains = h("div", { class: "chains" });
  const editor = editView();
  const node = h("div", { class: "one plan" },
    h("header", { class: "agent" }, h("p", {}, h("a", { href: "#/", class: "back" }, "‹ All agents")),
      h("h1", {}, badge, name, word), goal, constraints, problem, facts),
    asks,
    h("section", { class: "screen", "aria-labelledby": "steps" }, h("h2", { id: "steps" }, "Steps"), steps),
    h("section", { class: "orders", "aria-labelledby": "orders" }, h("h2", { id: "orders" }, "Steer"),
      maySteer() ? orders : h("p", {}, "This browser may only look."), outcome, editor.node),
    h("section", { class: "why", "aria-labelledby": "why" }, h("h2", { id: "why" }, "Why"), chains));
  let told = null; // the plan as it was last read
  let asked = "";
  let closed = false;

  async function order(word_, body, words) {
    setText(outcome, `${words} …`);
    outcome.className = "outcome busy";
    try {
      const came = await post(path(word_), body);
      outcome.className = `outcome ${came.outcome === "done" ? "good" : ""}`;
      setText(outcome, came.outcome === "done" ? `${words}: done` : `${words}: ${came.why}`);
      load();
      return "";
    } catch (error) {
      outcome.className = "outcome bad";
      setText(outcome, `${words}: ${error.message}`);
      return error.message;
    }
  }

  function drawHead(plan) {
    const tone = toneOf(plan);
    node.className = `one plan is-${tone}`;
    badge.replaceChildren(mark(tone, plan.status === "DONE"));
    setText(name, plan.name);
    setText(word, plan.status.toLowerCase());
    setText(goal, plan.goal);
    setText(problem, plan.trouble);
    problem.hidden = !plan.trouble;
    facts.replaceChildren(...[...factsOf(plan), plan.path].map((each) => h("li", {}, each)));
    document.title = `${plan.name} – koboshi`;
    if (maySteer()) drawOrders(plan);
    drawQuestion(plan);
  }

  let drawn = "";
  function drawOrders(plan) {
    if (drawn === plan.status) return;
    drawn = plan.status;
    const stop = async () => {
      if (await confirmed(`Stop ${plan.name}?`, "The agent that works on it is ended at once. What was done stays; you can resume.", "Stop")) order("stop", {}, "Stop");
    };
    orders.replaceChildren(...[
      plan.status === "RUNNING" && h("button", { type: "button", class: "danger", onclick: stop }, "Stop"),
      ["IDLE", "WAITING"].includes(plan.status) && h("button", { type: "button", onclick: () => order("resume", {}, "Resume") }, "Resume"),
      !["GONE"].includes(plan.status) && h("button", { type: "button", onclick: () => editor.open(told) }, "Edit"),
    ].filter(Boolean));
  }

  function drawQuestion(plan) {
    const key = `${plan.status} ${plan.waits}`;
    if (key === asked) return;
    asked = key;
    asks.hidden = !["WAITING", "FAILED"].includes(plan.status);
    if (asks.hidden) { asks.replaceChildren(); return; }
    const text = h("textarea", { rows: 2, required: true, "aria-label": "answer", placeholder: "In your own words: the agent is told" });
    const send = async (event) => {
      event.preventDefault();
      if (text.value.trim()) await order("answer", { text: text.value }, "Answer");
    };
    asks.replaceChildren(...[h("h2", { id: "asks" }, plan.status === "FAILED" ? "It failed and asks" : "It waits"),
      h("pre", { class: "subject" }, plan.waits || plan.last_action), h("p", { class: "hint" }, plan.waits ? plan.last_action : ""),
      maySteer() ? h("form", { class: "send", onsubmit: send }, text, h("button", { type: "submit" }, "Answer")) : null].filter(Boolean));
  }

  function drawSteps(found) {
    setText(constraints, found.constraints ? `But: ${found.constraints}` : "");
    const open = new Set([...steps.querySelectorAll("details[open]")].map((each) => each.dataset.step));
    steps.replaceChildren(...found.steps.map((step) => stepView(step, found.results[step.number], found.current, open)));
    if (!found.steps.length) steps.replaceChildren(h("li", { class: "hint" }, "No steps yet: a planner makes them from the goal."));
  }

  async function load() {
    try {
      const found = await get(path());
      if (closed) return;
      told = found;
      drawHead(found);
      if (found.plan) drawSteps(found.plan);
      drawWhy(await get(`${path("why")}?count=30`));
    } catch (error) {
      problem.hidden = false;
      setText(problem, error.message);
    }
  }

  function drawWhy(found) {
    const open = new Set([...chains.querySelectorAll("details[open]")].map((each) => each.dataset.utc));
    chains.replaceChildren(...found.reverse().map((each) => chainView(each, open)));
    if (!found.length) chains.replaceChildren(h("p", { class: "hint" }, "Nothing was decided yet."));
  }

  // Nothing is written over: what was changed meanwhile is shown beside what was typed here.
  function editView() {
    const text = h("textarea", { rows: 18, spellcheck: "false", "aria-label": "the plan's text", class: "sheet" });
    const clash = h("div", { class: "clash", hidden: true, role: "alert" });
    const box = h("form", { class: "editor", hidden: true }, h("p", { class: "hint" }, "Only what you change is changed in the file, also while an agent works."), text, clash,
      h("div", { class: "buttons" }, h("button", { type: "submit" }, "Save"), h("button", { type: "button", onclick: () => { box.hidden = true; } }, "Close")));
    let base = "";
    const open = (plan) => {
      if (!plan) return;
      base = plan.text;
      text.value = base;
      clash.hidden = true;
      box.hidden = false;
      text.setSelectionRange(0, 0); // at its beginning: Chromium would show its end
      text.scrollTop = 0;
      text.focus();
    };
    const conflict = async (why) => {
      const now_ = await get(path());
      const take = h("button", { type: "button", class: "small", onclick: () => open(now_) }, "Begin again with the file's text");
      clash.replaceChildren(h("p", { class: "problem" }, why), h("h3", {}, "The file says now"), h("pre", { class: "proof" }, now_.text), take);
      clash.hidden = false;
    };
    box.addEventListener("submit", async (event) => {
      event.preventDefault();
      const why = await order("edit", { base, text: text.value }, "Save");
      if (!why) { box.hidden = true; return; }
      setText(outcome, "Save: nothing was saved");
      conflict(why).catch(() => {});
    });
    return { node: box, open };
  }

  load();
  const off = on("plans", (news) => { if (news.full || news.items[id] || news.gone.includes(id)) load(); else if (plans.has(id)) drawHead(plans.get(id)); });
  return { node, close: () => { closed = true; off(); } };
}

function stepView(step, result, current, open) {
  const tone = STEP_TONES[step.state] ?? "unknown";
  const tried = result?.attempts ?? 0;
  const facts = [STEP_WORDS[step.state] ?? step.state];
  if (tried > 1 || (tried && step.state === "FAILED")) facts.push(`attempt ${tried}`);
  if (step.agent) facts.push(step.agent);
  if (step.state === "RUNNING" && current.task_id) facts.push(current.task_id);
  if (result?.verified === true) facts.push("verified");
  const more = [["verified by", step.verify.join("\n")], ["may touch", step.touch.join(" ")], ["told", step.state === "RUNNING" ? current.command : ""],
    ["your answer", result?.answer ?? ""], ["exit code", result?.exit === null || result?.exit === undefined ? "" : String(result.exit)]].filter(([, text]) => text);
  return h("li", { class: `step is-${tone}` },
    h("span", { class: "head" }, h("span", { class: "badge" }, mark(STEP_SHAPES[step.state] ?? "unknown", step.state === "DONE")),
      h("strong", { class: "name" }, `${step.number}. ${step.text}`)),
    h("ul", { class: "facts" }, facts.map((each) => h("li", {}, each)), result?.commit ? h("li", {}, "commit ", h("code", {}, result.commit)) : null),
    result?.summary ? h("p", { class: "note" }, result.summary) : null,
    result?.evidence ? h("p", { class: result.verified === false ? "problem" : "hint" }, result.verified === false ? `Not verified: ${result.evidence}` : result.evidence) : null,
    more.length ? h("details", { "data-step": step.number, open: open.has(String(step.number)) }, h("summary", {}, "Details"),
      h("dl", {}, more.flatMap(([label, text]) => [h("dt", {}, label), h("dd", {}, h("pre", {}, text))]))) : null);
}

function chainView(each, open) {
  const finding = each.finding;
  const ending = each.outcome?.ending ?? (each.verdict.admitted ? "under way" : each.verdict.word);
  const rows = [["seen", each.words.seen], ["found", finding.message], ["action", each.words.action], ["verdict", each.words.verdict],
    ["outcome", each.outcome ? [each.outcome.ending, each.outcome.why].filter(Boolean).join(": ") : ""]];
  return h("details", { class: `chain end-${ending}`, "data-utc": each.utc, open: open.has(String(each.utc)) },
    h("summary", {}, h("time", {}, clock(each.utc)), " ", h("code", {}, finding.code), ` ${finding.message} `, h("em", {}, ending)),
    h("dl", {}, rows.filter(([, text]) => text).flatMap(([label, text]) => [h("dt", {}, label), h("dd", {}, text)])),
    finding.evidence.length ? h("pre", { class: "proof" }, finding.evidence.join("\n")) : null);
}
