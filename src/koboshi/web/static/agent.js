// One agent: what it does, what it wants, its terminal, its past; and the orders one can give.

import { at, get, maySteer, post } from "./api.js";
import { factsOf } from "./board.js";
import { confirmed } from "./dialog.js";
import { h, setText, shape } from "./dom.js";
import { papersView } from "./incidents.js";
import { agents, known, on } from "./live.js";
import { questionsView } from "./questions.js";
import { screenView } from "./screen.js";
import { sparkline, timelineView } from "./timeline.js";
import { age, clock, count, noteOf, now, statusOf } from "./words.js";

function outcomeWords(came, word) {
  if (came.outcome === "done") return `${word}: done`;
  if (came.outcome === "waiting") return `${word}: waits until it can be done (${came.agent} is ${came.status})`;
  if (came.outcome === "failed") return `${word}: failed: ${came.why}`;
  if (came.outcome === "was-ended") return `${word}: it had ended already`;
  return `${word}: done`;
}

export function agentView(name, more) {
  const badge = h("span", { class: "badge" });
  const word = h("span", { class: "word" });
  const since = h("span", { class: "since" });
  const note = h("p", { class: "note" });
  const facts = h("ul", { class: "facts" });
  const used = h("p", { class: "used hint", hidden: true });
  const evidence = h("pre", { class: "proof" });
  const outcome = h("p", { class: "outcome", role: "status", "aria-live": "polite" });
  const asks = questionsView(name, order);
  const orders = h("div", { class: "buttons" });
  const [runs, notes, papers] = [runsView(name), notesView(name), papersView(name)];
  const lower = h("div", { class: "lower" }, runs.node, notes.node, papers.node);
  const why = whyView(name);
  const terminal = screenView();
  const spark = h("span", { class: "sparks" });
  const past = timelineView(name, (event) => why.load(event), (picture) => spark.replaceChildren(...[sparkline(picture)].filter(Boolean)));
  const head = h("header", { class: "agent" },
    h("p", {}, h("a", { href: "#/", class: "back" }, "‹ All agents")),
    h("h1", {}, badge, h("span", { class: "name" }, name), word, since), note,
    h("details", {}, h("summary", {}, "Evidence"), evidence), h("div", { class: "beside" }, facts, spark), used);
  const form = sendForm();
  const node = h("div", { class: "one" }, head, asks.node, terminal.node,
    h("section", { class: "orders", "aria-labelledby": "orders" }, h("h2", { id: "orders" }, "Steer"),
      maySteer() ? form : h("p", {}, "This browser may only look."), orders, outcome),
    past.node, why.node, lower);
  let drawn = "";

  async function order(path, body, words) {
    setText(outcome, `${words} …`);
    outcome.className = "outcome busy";
    try {
      const came = await post(path, body);
      outcome.className = `outcome ${came.outcome === "failed" ? "bad" : "good"}`;
      setText(outcome, outcomeWords(came, words));
      return true;
    } catch (error) {
      outcome.className = "outcome bad";
      setText(outcome, `${words}: ${error.message}`);
      return false;
    }
  }

  function sendForm() {
    const text = h("textarea", { rows: 2, required: true, "aria-label": `message to ${name}`, placeholder: "Message, typed when it can be typed" });
    const send = async (event) => {
      event.preventDefault();
      if (text.value.trim() && await order(at(name, "send"), { text: text.value }, "Send")) text.value = "";
    };
    text.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send(event); });
    return h("form", { class: "send", onsubmit: send }, text, h("button", { type: "submit" }, "Send"));
  }

  function button(label, path, body, { danger = "", detail = "", red = Boolean(danger) } = {}) {
    return h("button", { type: "button", class: red ? "danger" : "", onclick: async () => {
      if (!danger || await confirmed(danger, detail, label)) order(at(name, path), body, label);
    } }, label);
  }

  function drawOrders(agent) {
    const status = statusOf(agent);
    const up = agent.run && !agent.run.exit;
    const knows = agent.type !== "generic" && agent.mode !== "observe";
    const key = [status, up, knows, agent.paused, agent.given_up].join();
    if (key === drawn || !maySteer()) return;
    drawn = key;
    form.hidden = !up;
    orders.replaceChildren(...[
      up && (agent.paused ? button("Resume", "resume", {}) : button("Pause", "pause", {})),
      agent.given_up && button("Acknowledge", "acknowledge", {}),
      up && knows && button("Save", "save", {}),
      up && knows && button("Refresh", "refresh", {}, { danger: `Refresh ${name}?`, detail: "Its work is saved at the end of its turn, and a fresh run goes on with the note.", red: false }),
      up && button("Restart", "reload", { reason: "asked for on the page" }, { danger: `Restart ${name}?`, detail: "Its process ends at once and comes back with the same session. Its turn is interrupted." }),
      up && button("Restart fresh", "reload", { reason: "asked for on the page", fresh: true }, { danger: `Restart ${name} with an empty context?`, detail: "Its process ends at once, and the next one knows nothing of this session." }),
      up && button("Stop", "stop", {}, { danger: `Stop ${name}?`, detail: "It ends with all it started, and is not started again until you say so." }),
      !up && agent.watched && button("Start", "start", {}),
    ].filter(Boolean));
  }

  function draw() {
    const agent = agents.get(name);
    if (!agent) {
      setText(note, known() ? `No agent is called ${name}.` : "");
      return;
    }
    const status = statusOf(agent);
    head.className = `agent is-${status}`;
    badge.replaceChildren(shape(status));
    setText(word, status);
    setText(note, noteOf(agent));
    setText(evidence, (agent.evidence ?? []).join("\n") || "nothing seen");
    drawOrders(agent);
    asks.renew(agent);
    tick();
  }

  function tick() {
    const agent = agents.get(name);
    if (!agent) return;
    setText(since, agent.since ? `for ${age(now() - agent.since)}` : "");
    const told = factsOf(agent);
    if (facts.dataset.told === told.join("|")) return;
    facts.dataset.told = told.join("|");
    facts.replaceChildren(...told.map((each) => h("li", {}, each)));
  }

  // What was decided and which run it is change with the status; nothing tells of them by itself.
  let renewed = "";
  let soon = 0;
  function renew() {
    const agent = agents.get(name);
    const key = agent ? [agent.status, agent.since, agent.run?.number, agent.paused, agent.halted].join() : "";
    if (key === renewed || soon) return;
    soon = setTimeout(() => {
      [renewed, soon] = [key, 0];
      why.renew();
      past.renew();
      showUse();
      for (const each of [runs, notes, papers]) each.renew();
    }, renewed ? 1500 : 0);
  }

  async function showUse() {
    try {
      const { spent } = await get(`${at(name, "spending")}?seconds=86400`);
      used.hidden = !spent;
      if (spent) setText(used, `Tokens in 24 h: ${count(spent.read)} read, ${count(spent.written)} written${spent.cost ? `, $${spent.cost.toFixed(2)}` : ""}`);
    } catch { used.hidden = true; }
  }

  draw();
  renew();
  if (more?.get("why")) { why.load(more.get("why")); setTimeout(() => why.node.scrollIntoView(), 300); }
  const off = on("board", () => { draw(); renew(); });
  const timer = setInterval(tick, 1000);
  return { node, close: () => { off(); clearInterval(timer); clearTimeout(soon); terminal.close(); past.close(); } };
}

function whyView(name) {
  const list = h("ol", { class: "chains" });
  const title = h("h2", { id: "why" }, "Why");
  const all = h("button", { type: "button", class: "small", hidden: true, onclick: () => load("") }, "All decisions");
  const node = h("section", { class: "why", "aria-labelledby": "why" }, h("div", { class: "bar" }, title, all), list);

  let shown = "";
  async function load(event) {
    shown = event;
    all.hidden = !event;
    setText(title, event ? `Why: ${event}` : "Why");
    try {
      const found = await get(`${at(name, "why")}?${event ? `event=${encodeURIComponent(event)}` : "count=20"}`);
      if (event !== shown) return; // another one was chosen while it came
      list.replaceChildren(...found.reverse().map(chain));
      if (!found.length) list.replaceChildren(h("li", { class: "hint" }, event ? "Nothing was decided then." : "Nothing was decided yet."));
    } catch (error) {
      list.replaceChildren(h("li", { class: "problem" }, error.message));
    }
  }

  return { node, load, renew: () => !shown && load("") };
}

function chain(each) {
  const { finding, verdict, outcome, words } = each;
  const end = outcome ? `${outcome.ending}${outcome.why ? `: ${outcome.why}` : ""}` : verdict.admitted ? "not written yet" : "";
  const rows = [["seen", `${each.seen.id} ${words.seen}`], ["found", finding.message], ["action", words.action],
    ["verdict", words.verdict], ["outcome", end]];
  const mark = outcome?.ending ?? (verdict.admitted ? "open" : "held");
  return h("li", { class: `chain end-${mark}` }, h("details", {},
    h("summary", {}, h("time", {}, clock(each.utc)), " ", h("code", {}, finding.code), ` ${finding.message} `, h("em", {}, mark)),
    h("dl", {}, rows.filter(([, text]) => text).flatMap(([label, text]) => [h("dt", {}, label), h("dd", {}, text)])),
    finding.evidence.length ? h("pre", { class: "proof" }, finding.evidence.join("\n")) : null));
}

function runsView(name) {
  const body = h("tbody");
  const node = h("section", { class: "runs", "aria-labelledby": "runs" }, h("h2", { id: "runs" }, "Runs"),
    h("div", { class: "wide" }, h("table", {}, h("thead", {}, h("tr", {}, ["#", "began", "lasted", "origin", "ended"].map((each) => h("th", { scope: "col" }, each)))), body)));
  const renew = () => get(at(name, "history")).then((found) => body.replaceChildren(...found.slice(-30).reverse().map((run) => h("tr", {},
    h("td", {}, String(run.run)), h("td", {}, clock(run.started, true)),
    h("td", {}, age((run.ended ?? now()) - run.started)), h("td", {}, run.origin),
    h("td", {}, run.ended ? [run.how, run.reason].filter(Boolean).join(": ") : "runs"))))).catch((error) => {
    body.replaceChildren(h("tr", {}, h("td", { colspan: 5 }, error.message)));
  });
  return { node, renew };
}

function notesView(name) {
  const box = h("div");
  let drawn = "";
  const node = h("section", { class: "notes", "aria-labelledby": "notes" }, h("h2", { id: "notes" }, "Hand-over notes"), box);
  const renew = () => get(at(name, "notes")).then((found) => {
    if (JSON.stringify(found) === drawn) return; // what was opened stays open
    drawn = JSON.stringify(found);
    box.replaceChildren(...found.map((each, n) => h("details", { open: n === 0 },
      h("summary", {}, h("time", {}, clock(each.utc, true)), ` ${each.name}`), h("pre", { class: "proof" }, each.text))));
    if (!found.length) box.replaceChildren(h("p", { class: "hint" }, "None yet."));
  }).catch((error) => {
    drawn = "";
    box.replaceChildren(h("p", { class: "problem" }, error.message));
  });
  return { node, renew };
}
