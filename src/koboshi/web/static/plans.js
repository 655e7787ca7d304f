// Plans on the board: what each is at, and which of them wait for a person.

import { h, s, setText, shape } from "./dom.js";
import { on, plans } from "./live.js";
import { age, now } from "./words.js";

// A plan's words are the file's; shapes and colours are those of agents.
const TONES = { RUNNING: "working", WAITING: "asking", FAILED: "failed", DONE: "working", IDLE: "stopped", GONE: "gone", DAMAGED: "unknown" };

// What is done has a mark of its own: an arrow is for what goes on.
export function mark(tone, done) {
  return done ? s("svg", { viewBox: "0 0 16 16", class: "shape", "aria-hidden": "true" }, s("path", { d: "M2.500 8.500 6.500 12.500 13.500 4", class: "line" })) : shape(tone);
}

export const toneOf = (plan) => (plan.trouble && plan.status === "RUNNING" ? "unknown" : TONES[plan.status] ?? "unknown");

export const asksPerson = (plan) => ["WAITING", "FAILED", "DAMAGED"].includes(plan.status) || Boolean(plan.trouble);

export function noteOf(plan) {
  if (plan.trouble) return plan.trouble;
  if (plan.waits) return plan.waits;
  if (plan.step) return `${plan.step.number}. ${plan.step.text}`;
  return plan.last_action;
}

export function factsOf(plan) {
  const facts = [`${plan.done} of ${plan.steps} steps`];
  if (plan.step && plan.step.attempt > 1) facts.push(`attempt ${plan.step.attempt}`);
  if (plan.step?.began) facts.push(`at it for ${age(now() - plan.step.began)}`);
  facts.push(plan.agent);
  if (plan.status === "RUNNING" && !plan.keeper) facts.push("nobody works on it");
  return facts;
}

// The step of a plan that works where that agent does.
export function stepBeside(agent) {
  for (const plan of plans.values()) {
    if (plan.status === "RUNNING" && plan.step && plan.cwd === agent.cwd) return `${plan.name}: step ${plan.step.number} of ${plan.steps}`;
  }
  return "";
}

function cardOf(plan) {
  const tone = toneOf(plan);
  return h("li", { class: `card plan-card is-${tone}` },
    h("a", { href: `#/plan/${encodeURIComponent(plan.id)}` },
      h("span", { class: "head" }, h("span", { class: "badge" }, mark(tone, plan.status === "DONE")), h("strong", { class: "name" }, plan.name),
        h("span", { class: "word" }, plan.status.toLowerCase())),
      h("p", { class: "goal" }, plan.goal), h("p", { class: "note" }, noteOf(plan)),
      h("progress", { max: Math.max(1, plan.steps), value: plan.done, "aria-label": `${plan.done} of ${plan.steps} steps done` }),
      h("ul", { class: "facts" }, factsOf(plan).map((each) => h("li", {}, each)))));
}

const RANK = ["FAILED", "WAITING", "DAMAGED", "RUNNING", "IDLE", "GONE", "DONE"];
const KEPT = 12; // plans that are over and still shown

export function plansSection() {
  const list = h("ul", { class: "cards" });
  const rest = h("p", { class: "count" });
  const node = h("section", { "aria-labelledby": "plans", class: "plans", hidden: true }, h("h2", { id: "plans" }, "Plans"), list, rest);

  function draw() {
    const sorted = [...plans.values()].reverse().sort((a, b) => asksPerson(b) - asksPerson(a) || RANK.indexOf(a.status) - RANK.indexOf(b.status));
    const over = sorted.filter((each) => ["DONE", "GONE"].includes(each.status));
    const shown = sorted.filter((each) => !over.includes(each) || over.indexOf(each) < KEPT);
    const focused = document.activeElement?.getAttribute?.("href");
    list.replaceChildren(...shown.map(cardOf));
    if (focused?.startsWith("#/plan/")) list.querySelector(`a[href="${CSS.escape(focused).replaceAll("\\#", "#").replaceAll("\\/", "/")}"]`)?.focus();
    setText(rest, sorted.length > shown.length ? `and ${sorted.length - shown.length} more that are over` : "");
    node.hidden = sorted.length === 0;
  }

  draw();
  const off = on("plans", draw);
  const timer = setInterval(() => { if (!document.hidden && [...plans.values()].some((each) => each.step)) draw(); }, 5000);
  return { node, close: () => { off(); clearInterval(timer); } };
}
