// What rules found of agents, newest first; what was made of it; and the word that one saw to it.

import { at, get, maySteer, post } from "./api.js";
import { h, setText, shape } from "./dom.js";
import { renewal } from "./renewal.js";
import { age, clock, now, size } from "./words.js";

const SINCE = [["24 h", 86400], ["7 d", 604800]];
const LEAST = [["P0", "P0"], ["P0 and P1", "P1"], ["all", "P2"]];

const open = (each) => each.open;
const agentLink = (name) => h("a", { href: `#/agent/${encodeURIComponent(name)}` }, name);

export function incidentsView() {
  const wanted = { seconds: 86400, severity: "P1", code: "" };
  const needs = h("section", { class: "needs", "aria-labelledby": "needs", hidden: true });
  const tally = h("ul", { class: "tally" });
  const list = h("ol", { class: "incidents" });
  const told = h("p", { class: "count", role: "status", "aria-live": "polite" });
  const outcome = h("p", { class: "outcome", role: "status", "aria-live": "polite" });
  const bar = h("div", { class: "bar" }, choices("how far back", SINCE, "seconds"), choices("the least severe", LEAST, "severity"));
  const node = h("div", { class: "list-view" }, h("h1", {}, "Incidents"), outcome, needs,
    h("section", { "aria-labelledby": "found" }, h("h2", { id: "found" }, "What was found"), bar, tally, told, list));
  let found = [];
  let drawn = "";

  function choices(label, options, key) {
    const group = h("div", { class: "choices", role: "group", "aria-label": label });
    for (const [word, value] of options) {
      group.append(h("button", { type: "button", class: "small", "aria-pressed": String(wanted[key] === value), onclick: (event) => {
        wanted[key] = value;
        wanted.code = "";
        for (const each of group.children) each.setAttribute("aria-pressed", String(each === event.currentTarget));
        load();
      } }, word));
    }
    return group;
  }

  async function load() {
    if (!drawn) setText(told, "Looking through the journals …");
    const query = () => `seconds=${wanted.seconds}&severity=${wanted.severity}`;
    const asked = query();
    try {
      const came = await get(`/api/incidents?${asked}&count=200`);
      if (asked !== query()) return true; // something else was chosen while it came
      found = came;
      draw();
      return true;
    } catch (error) {
      setText(told, error.message);
      return false;
    }
  }

  // Redrawn only when something is different, so that what was opened stays open.
  function draw() {
    const key = JSON.stringify([found, wanted.code]);
    if (key === drawn) return;
    drawn = key;
    drawNeeds();
    drawTally();
    const shown = found.filter((each) => !wanted.code || each.code === wanted.code);
    const unfolded = new Set([...list.querySelectorAll("details.incident[open]")].map((each) => each.dataset.id));
    list.replaceChildren(...shown.map((each) => incident(each, unfolded.has(each.id))));
    setText(told, found.length ? `${shown.length} ${shown.length === 1 ? "incident" : "incidents"}, newest first` : "Nothing was found in that time.");
  }

  function drawNeeds() {
    const waiting = new Map();
    for (const each of found.filter(open)) waiting.set(each.agent, [...(waiting.get(each.agent) ?? []), each]);
    needs.hidden = waiting.size === 0;
    needs.replaceChildren(h("h2", { id: "needs" }, "Needs you"), h("ul", { class: "cards" }, [...waiting].map(([name, calls]) =>
      h("li", { class: "call" }, h("p", {}, h("strong", {}, agentLink(name)), h("time", { class: "since" }, `for ${age(now() - calls.at(-1).utc)}`)),
        calls.slice(0, 3).map((each) => h("p", { class: "note" }, each.message)),
        calls.length > 3 ? h("p", { class: "hint" }, `and ${calls.length - 3} more`) : null,
        maySteer() ? h("div", { class: "buttons" }, h("button", { type: "button", onclick: (event) => acknowledge(name, event.currentTarget) }, `Acknowledge ${name}`)) : null))));
  }

  function drawTally() {
    const rules = new Map();
    for (const each of found) {
      const known = rules.get(each.code) ?? { ...each, count: 0 };
      known.count += 1;
      rules.set(each.code, known);
    }
    const sorted = [...rules.values()].sort((a, b) => a.severity.localeCompare(b.severity) || b.count - a.count);
    tally.replaceChildren(...sorted.map((each) => h("li", {}, h("button", { type: "button", class: `small sev-${each.severity}`,
      "aria-pressed": String(wanted.code === each.code), title: each.name, onclick: () => { wanted.code = wanted.code === each.code ? "" : each.code; draw(); } },
    h("b", {}, each.severity), ` ${each.code} ${each.name} `, h("span", { class: "times" }, `× ${each.count}`)))));
  }

  // The same as `koboshi ack`: spent budgets and old escalations of that agent are forgiven.
  async function acknowledge(name, button) {
    button.disabled = true;
    try {
      await post(at(name, "acknowledge"));
      outcome.className = "outcome good";
      setText(outcome, `${name}: acknowledged`);
      await load();
    } catch (error) {
      outcome.className = "outcome bad";
      setText(outcome, `${name}: ${error.message}`);
      button.disabled = false;
    }
  }

  return { node, title: "Incidents", close: renewal(["incidents"], load) };
}

function incident(each, unfolded) {
  const state = open(each) ? h("em", { class: "waits" }, "waits for you") : each.asks ? h("em", {}, each.acknowledged ? `seen to ${clock(each.acknowledged)}` : "over") : null;
  const older = now() - each.utc > 43200;
  return h("li", { class: `sev-${each.severity}` }, h("details", { class: "incident", "data-id": each.id, open: unfolded },
    h("summary", {}, h("span", { class: "severity" }, shape(each.severity === "P0" ? "failed" : each.severity === "P1" ? "unknown" : "idle"), each.severity), h("span", { class: "what" },
      h("span", { class: "headline" }, h("time", {}, clock(each.utc, older)), h("strong", {}, each.agent), h("code", {}, each.code), state),
      h("span", { class: "message" }, each.message))),
    h("div", { class: "inside" },
      h("p", { class: "hint" }, each.name.replaceAll("-", " "), " · ", h("a", { href: `#/rules/${encodeURIComponent(each.code)}` }, "the rule"), " · ",
        h("a", { href: `#/agent/${encodeURIComponent(each.agent)}?why=${each.event}` }, `why (${each.event})`)),
      h("ol", { class: "steps" }, each.actions.map((step) => h("li", { class: `end-${step.ending ?? "held"}` }, step.words, " – ",
        h("em", {}, outcomeOf(step))))),
      each.evidence.length ? h("pre", { class: "proof" }, each.evidence.join("\n")) : null,
      each.bundle ? h("p", {}, download(each.agent, each.bundle, "Debug bundle")) : null,
      each.prompt ? promptOf(each.agent, each.prompt) : null)));
}

// Of a file's path only its name: the page offers the file itself.
function outcomeOf(step) {
  const file = step.kind === "bundle" || step.kind === "fix-prompt";
  const said = file && step.ending === "done" ? step.said.replace(/^[^;]*\//, "") : step.said;
  return [step.ending ?? step.why, said].filter(Boolean).join(": ");
}

// A bundle holds more than a page shows: who may only look does not get it.
function download(name, file, words) {
  if (!maySteer()) return h("span", { class: "hint" }, `${words}: this browser may only look`);
  return h("a", { class: "download", href: `${at(name, "bundles")}/${encodeURIComponent(file)}`, download: `${name}-${file}` }, `${words} ↓`);
}

// Read when it is opened: prompts are long, and there may be many.
function promptOf(name, file) {
  const text = h("pre", { class: "proof" });
  const copied = h("span", { class: "hint", role: "status" });
  const copy = h("button", { type: "button", class: "small", onclick: async () => {
    try { await navigator.clipboard.writeText(text.textContent); setText(copied, " copied"); } catch { setText(copied, " select and copy it yourself"); }
  } }, "Copy");
  const box = h("details", { ontoggle: async () => {
    if (!box.open || text.textContent) return;
    try {
      const found = await get(at(name, "prompts"));
      setText(text, found.find((each) => each.name === file)?.text ?? "It is not kept any more.");
    } catch (error) { setText(text, error.message); }
  } }, h("summary", {}, "Fix prompt"), h("p", {}, copy, copied), text);
  return box;
}

// For one agent's page: its files, and a bundle of how it is now. Made once and renewed: what a
// bundle came to is said where it was asked for, and a prompt that was opened stays open.
export function papersView(name) {
  const list = h("ul", { class: "papers" });
  const said = h("p", { class: "outcome", role: "status", "aria-live": "polite" });
  const node = h("section", { class: "papers-view", "aria-labelledby": "papers" }, h("h2", { id: "papers" }, "Bundles and fix prompts"), list,
    maySteer() ? h("div", { class: "buttons" }, h("button", { type: "button", class: "small", onclick: (event) => collect(event.currentTarget) }, "Collect a bundle now")) : null, said);
  let drawn = "";

  async function load() {
    try {
      const [bundles, prompts] = await Promise.all([get(at(name, "bundles")), get(at(name, "prompts"))]);
      const key = JSON.stringify([bundles, prompts]);
      if (key === drawn) return;
      drawn = key;
      const rows = bundles.slice(0, 10).map((each) => h("li", {}, h("time", {}, clock(each.utc, true)), " ", download(name, each.name, `bundle, ${size(each.size)}`)));
      list.replaceChildren(...rows, ...prompts.slice(0, 5).map((each) => h("li", {}, h("time", {}, clock(each.utc, true)), promptOf(name, each.name))));
      if (!bundles.length && !prompts.length) list.replaceChildren(h("li", { class: "hint" }, "None yet."));
    } catch (error) {
      drawn = "";
      list.replaceChildren(h("li", { class: "problem" }, error.message));
    }
  }

  async function collect(button) {
    button.disabled = true;
    setText(said, "collecting …");
    try {
      await post(at(name, "bundle"));
      setText(said, "collected");
      await load();
    } catch (error) { setText(said, error.message); }
    button.disabled = false;
  }

  return { node, renew: load };
}
