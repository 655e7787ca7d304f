// Which rules hold, what each came to, what it would have done; and the switch between observe and act.

import { get, maySteer, post } from "./api.js";
import { confirmed } from "./dialog.js";
import { h, setText } from "./dom.js";
import { renewal } from "./renewal.js";
import { clock } from "./words.js";

const SHOWN = [["all", () => true], ["found something", (each) => each.found > 0], ["observing", (each) => each.mode === "observe"],
  ["yours", (each) => !["built in", "plan"].includes(each.origin)]];

// Of a file's path the end is enough; the whole of it is in the title.
function originOf(each) {
  if (each.origin === "plan") return "built in, looks at plans";
  const parts = each.origin.split("/");
  return parts.length > 3 ? `…/${parts.slice(-2).join("/")}` : each.origin;
}

// First what tells something: rules that observe, then those that found something, the newest first.
const rank = (each) => (each.mode === "observe" ? 2e12 : 0) + (each.last?.utc ?? 0);

export function rulesView(code) {
  return code ? ruleView(code) : listView();
}

function counts(each) {
  const parts = [];
  if (each.found) parts.push(`found ${each.found} ×`);
  if (each.done) parts.push(`${each.done} done`);
  if (each.would) parts.push(`${each.would} held back`);
  return parts.join(" · ");
}

function lastOf(each) {
  if (each.mode === "observe" && each.example_would) return `would have: ${each.example_would.words}`;
  return each.last ? `last: ${each.last.agent}, ${clock(each.last.utc, true)}` : "";
}

const modeWord = (each) => h("span", { class: `mode mode-${each.mode}` }, each.mode, each.switched ? h("span", { class: "hint" }, " by you") : null);

function listView() {
  const told = h("p", { class: "count", role: "status", "aria-live": "polite" });
  const find = h("input", { type: "search", placeholder: "code, name or words", "aria-label": "find a rule", oninput: () => draw() });
  const group = h("div", { class: "choices", role: "group", "aria-label": "which rules" });
  const list = h("ul", { class: "rules" });
  const node = h("div", { class: "list-view" }, h("h1", {}, "Rules"),
    h("p", { class: "hint" }, "A rule looks at what is known of an agent and asks for something. One that observes does nothing: what it would have done is shown here. Counts are of the last seven days."),
    h("div", { class: "bar" }, group, find), told, list);
  let rules = [];
  let shown = SHOWN[0][1];
  let drawn = "";

  for (const [word, test] of SHOWN) {
    group.append(h("button", { type: "button", class: "small", "aria-pressed": String(test === shown), onclick: (event) => {
      shown = test;
      for (const each of group.children) each.setAttribute("aria-pressed", String(each === event.currentTarget));
      draw();
    } }, word));
  }

  async function load() {
    try {
      rules = (await get("/api/rules")).sort((a, b) => rank(b) - rank(a) || a.code.localeCompare(b.code));
      draw();
      return true;
    } catch (error) { setText(told, error.message); return false; }
  }

  function draw() {
    const words = find.value.trim().toLowerCase();
    const found = rules.filter((each) => shown(each) && `${each.code} ${each.name} ${each.summary}`.toLowerCase().includes(words));
    const key = JSON.stringify(found);
    if (key === drawn) return;
    drawn = key;
    list.replaceChildren(...found.map((each) => h("li", { class: `sev-${each.severity} ${each.mode}` }, h("a", { href: `#/rules/${encodeURIComponent(each.code)}` },
      h("span", { class: "headline" }, h("b", {}, each.severity), h("code", {}, each.code), h("strong", {}, each.name), modeWord(each)),
      h("span", { class: "message" }, each.summary),
      h("span", { class: "tallied" }, [counts(each), lastOf(each), each.origin === "built in" ? "" : originOf(each)].filter(Boolean).map((text) => h("span", {}, text)))))));
    const observing = rules.filter((each) => each.mode === "observe").length;
    setText(told, rules.length ? `${found.length} of ${rules.length} rules${observing ? `, ${observing} observing` : ""}` : "");
  }

  return { node, title: "Rules", close: renewal(["rules", "incidents"], load) };
}

function ruleView(code) {
  const head = h("header", { class: "rule-head" });
  const steer = h("section", { class: "rule-mode", "aria-labelledby": "mode" });
  const page = h("section", { class: "rule-page", "aria-label": "its page" });
  const recent = h("section", { class: "rule-recent", "aria-labelledby": "recent", hidden: true });
  const outcome = h("p", { class: "outcome", role: "status", "aria-live": "polite" });
  const node = h("div", { class: "list-view" }, head, steer, outcome, page, recent);
  let drawn = "";

  async function load() {
    try {
      const found = (await get("/api/rules")).find((each) => each.code.toUpperCase() === code.toUpperCase());
      if (found) draw(found); else setText(outcome, `No rule has the code ${code}.`);
      return true;
    } catch (error) { setText(outcome, error.message); return false; }
  }

  function draw(rule) {
    const key = JSON.stringify(rule);
    if (key === drawn) return;
    drawn = key;
    head.className = `rule-head sev-${rule.severity}`;
    head.replaceChildren(h("p", {}, h("a", { href: "#/rules", class: "back" }, "‹ All rules")),
      h("h1", {}, h("b", {}, rule.severity), h("code", {}, rule.code), ` ${rule.name}`), h("p", {}, rule.summary), h("p", { class: "hint", title: rule.origin }, originOf(rule)));
    steer.replaceChildren(h("h2", { id: "mode" }, "Mode"), h("p", {}, modeWord(rule), modeText(rule)), ...buttons(rule));
    page.replaceChildren(...[["Why", rule.why], ["Example", rule.example], ["Safety", rule.safety]].filter(([, text]) => text)
      .flatMap(([title, text]) => [h("h2", {}, title), ...paragraphs(text)]));
    drawRecent(rule);
  }

  function modeText(rule) {
    if (rule.mode === "off") return " It is not enabled in its file.";
    if (!rule.settable) return " It is part of how plans are worked through.";
    const own = rule.switched ? ` You said so ${clock(rule.switched.utc, true)}; by itself: ${rule.own_mode}.` : "";
    return `${rule.mode === "act" ? " What it asks for is done." : " What it asks for is shown, never done."}${own}`;
  }

  function buttons(rule) {
    if (!rule.settable || !maySteer()) return [];
    const other = rule.mode === "act" ? "observe" : "act";
    const said = { observe: "What it asks for will be shown and not done, for every agent, until you say otherwise.", act: "What it asks for will be done, for every agent." };
    return [h("div", { class: "buttons" },
      h("button", { type: "button", onclick: async () => { if (await confirmed(`Let ${rule.code} ${other}?`, said[other], `Let it ${other}`, other === "observe")) set(other); } }, other === "observe" ? "Observe only" : "Let it act"),
      rule.switched ? h("button", { type: "button", onclick: () => set("default") }, `As it is by itself (${rule.own_mode})`) : null)];
  }

  async function set(mode) {
    outcome.className = "outcome busy";
    setText(outcome, "…");
    try {
      const rule = await post(`/api/rules/${encodeURIComponent(code)}`, { mode });
      outcome.className = "outcome good";
      setText(outcome, `${rule.code}: ${rule.mode === "act" ? "acts" : "observes"} from now on`);
      draw(rule);
    } catch (error) {
      outcome.className = "outcome bad";
      setText(outcome, error.message);
    }
  }

  function drawRecent(rule) {
    const rows = [];
    if (rule.last) rows.push(["found last", rule.last, rule.last.message]);
    if (rule.example_would) rows.push(["would have", rule.example_would, `${rule.example_would.words} (${rule.example_would.why})`]);
    recent.hidden = false;
    recent.replaceChildren(h("h2", { id: "recent" }, "In the last seven days"), h("p", {}, counts(rule) || "It found nothing."),
      h("dl", {}, rows.flatMap(([label, at, text]) => [h("dt", {}, label), h("dd", {},
        h("a", { href: `#/agent/${encodeURIComponent(at.agent)}?why=${at.event}` }, `${at.agent}, ${clock(at.utc, true)}`), ` ${text}`)])));
  }

  return { node, title: code, close: renewal(["rules", "incidents"], load) };
}

// Markdown as rules use it: paragraphs, fences and words between backticks; all of it text.
function paragraphs(text) {
  return text.split(/\n\n+/).map((part) => {
    const fence = part.match(/^```\w*\n([\s\S]*?)\n?```$/);
    if (fence) return h("pre", { class: "proof" }, fence[1]);
    return h("p", {}, part.replace(/\s+/g, " ").split(/`([^`]+)`/).map((piece, n) => (n % 2 ? h("code", {}, piece) : piece)));
  });
}
