// The board: everybody, who waits for a person first.

import { h, setText, shape } from "./dom.js";
import { agents, known, on } from "./live.js";
import { plansSection, stepBeside } from "./plans.js";
import { age, needsPerson, noteOf, now, ranked, statusOf } from "./words.js";

class Card {
  constructor(name) {
    this.word = h("span", { class: "word" });
    this.shape = h("span", { class: "badge" });
    this.since = h("time", { class: "since" });
    this.note = h("p", { class: "note" });
    this.evidence = h("p", { class: "evidence" });
    this.facts = h("ul", { class: "facts" });
    this.gauge = h("meter", { min: 0, max: 100, low: 60, high: 80, optimum: 0 });
    this.node = h("li", { class: "card" },
      h("a", { href: `#/agent/${encodeURIComponent(name)}` },
        h("span", { class: "head" }, this.shape, h("strong", { class: "name" }, name), this.word, this.since),
        this.note, this.evidence, this.gauge, this.facts));
  }

  update(agent) {
    const status = statusOf(agent);
    this.agent = agent;
    this.node.className = `card is-${status}`;
    if (this.status !== status) this.shape.replaceChildren(shape(status));
    this.status = status;
    setText(this.word, status);
    setText(this.note, noteOf(agent));
    const proof = (agent.evidence ?? []).map((row) => row.trim()).filter(Boolean).at(-1) ?? "";
    setText(this.evidence, status === "asking" ? "" : proof);
    this.evidence.hidden = !this.evidence.textContent;
    this.gauge.hidden = agent.context === null || agent.context === undefined;
    if (!this.gauge.hidden) {
      this.gauge.value = agent.context;
      this.gauge.setAttribute("aria-label", `context ${Math.round(agent.context)} % used`);
    }
    this.tick();
  }

  tick() {
    const agent = this.agent;
    setText(this.since, agent.since ? `for ${age(now() - agent.since)}` : "");
    const facts = factsOf(agent);
    if (facts.join("|") === this.told) return;
    this.told = facts.join("|");
    this.facts.replaceChildren(...facts.map((each) => h("li", {}, each)));
  }
}

export function factsOf(agent) {
  const run = agent.run;
  const facts = [agent.type];
  if (agent.context !== null && agent.context !== undefined) facts.push(`context ${Math.round(agent.context)} %`);
  if (agent.limit) facts.push(limitWords(agent.limit));
  if (agent.progress) facts.push(agent.progress.text);
  const beside = stepBeside(agent);
  if (beside) facts.push(beside);
  if (agent.tasks) facts.push(`tasks ${agent.tasks.done} of ${agent.tasks.done + agent.tasks.left}`);
  if (run && !run.exit) facts.push(`up ${age(now() - run.started)}`);
  if (agent.cost) facts.push(`$${agent.cost.toFixed(2)}`);
  if (agent.restarts) facts.push(agent.restarts === 1 ? "1 restart" : `${agent.restarts} restarts`);
  if (agent.mode && agent.mode !== "keep") facts.push(agent.mode);
  if (agent.paused) facts.push("paused");
  return facts;
}

function limitWords(limit) {
  if (!limit.resets_at) return `${limit.kind} limit`;
  const left = limit.resets_at - now();
  return left > 0 ? `${limit.kind} limit: ${age(left)} left` : `${limit.kind} limit: over`;
}

export function boardView() {
  const cards = new Map();
  const waiting = h("ul", { class: "cards" });
  const others = h("ul", { class: "cards" });
  const needs = h("section", { "aria-labelledby": "needs" }, h("h2", { id: "needs" }, "Needs you"), waiting);
  const count = h("p", { class: "count" });
  const empty = h("p", { class: "empty" });
  const plans = plansSection();
  const node = h("div", { class: "board" }, h("h1", { class: "hidden" }, "Agents"), needs, plans.node,
    h("section", { "aria-labelledby": "all" }, h("h2", { id: "all" }, "Agents"), count, empty, others));

  function cardOf(agent) {
    let card = cards.get(agent.agent);
    if (!card) { card = new Card(agent.agent); cards.set(agent.agent, card); }
    return card;
  }

  // Cards move only when their order changed, so that focus and scrolling stay where they are.
  function lay(list, wanted) {
    if (!list.firstChild) { list.append(...wanted); return; }
    wanted.forEach((item, n) => { if (list.children[n] !== item) list.insertBefore(item, list.children[n] ?? null); });
    while (list.children.length > wanted.length) list.lastChild.remove();
  }

  function arrange() {
    const sorted = ranked(agents.values());
    for (const name of [...cards.keys()]) if (!agents.has(name)) cards.delete(name);
    const urgent = sorted.filter(needsPerson);
    const rest = sorted.filter((each) => !needsPerson(each));
    lay(waiting, urgent.map((each) => cardOf(each).node));
    lay(others, rest.map((each) => cardOf(each).node));
    needs.hidden = urgent.length === 0;
    const tally = new Map();
    for (const each of sorted) tally.set(statusOf(each), (tally.get(statusOf(each)) ?? 0) + 1);
    setText(count, [...tally].map(([word, many]) => `${many} ${word}`).join(" · "));
    setText(empty, sorted.length || !known() ? "" : "No agents yet. `koboshi run -- claude` starts one.");
    document.title = urgent.length ? `(${urgent.length}) koboshi` : "koboshi";
  }

  function refresh(told) {
    const names = told.full ? [...agents.keys()] : Object.keys(told.items);
    for (const name of names) if (agents.has(name)) cardOf(agents.get(name)).update(agents.get(name));
    arrange();
  }

  refresh({ full: true });
  const off = on("board", refresh);
  const timer = setInterval(() => cards.forEach((card) => card.agent && card.tick()), 1000);
  return { node, close: () => { off(); plans.close(); clearInterval(timer); } };
}
