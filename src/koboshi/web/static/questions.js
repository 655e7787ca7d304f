// What one agent asks of people: each question as the daemon has it, and the ways to answer it.

import { get, mayAnswer, maySteer } from "./api.js";
import { confirmed } from "./dialog.js";
import { h } from "./dom.js";

// A hook that waits takes these words; the options of its dialog are known to the terminal alone.
const PLAIN = [
  { text: "Yes, this once", say: "yes", meaning: "once" },
  { text: "Yes, always", say: "always", meaning: "always" },
  { text: "No", say: "no", meaning: "no" },
];

function optionsOf(open) {
  if (open.options.length || open.kind === "question") return open.options;
  return open.through === "hook" ? PLAIN.filter((each) => each.meaning !== "always" || open.kind === "permission") : [];
}

function ownWords(label, hint, act) {
  const text = h("textarea", { rows: 2, required: true, "aria-label": hint, placeholder: hint });
  const submit = (event) => { event.preventDefault(); if (text.value.trim()) act(text.value.trim()); };
  return h("form", { class: "send", onsubmit: submit }, text, h("button", { type: "submit" }, label));
}

function drawn(open, name, order) {
  const can = maySteer() && mayAnswer() && !open.ordered;
  const answer = (text, label) => order(`/api/questions/${encodeURIComponent(open.id)}/answer`, { text }, label);
  const options = optionsOf(open);
  const refusable = open.kind !== "question" && options.some((each) => each.meaning === "no");
  const free = open.kind === "question" && open.through !== "keys";
  const rows = open.through === "hook" ? open.shown.join("\n") : "";
  const title = `asks-${open.id}`;
  const press = async (option) => {
    const lasting = option.meaning === "always";
    if (!lasting || await confirmed("Allow this always?", option.text, "Allow always")) answer(option.say ?? option.text, option.text);
  };
  return h("section", { class: "question", "aria-labelledby": title },
    h("h2", { id: title }, open.question || "It asks"),
    open.subject ? h("pre", { class: "subject" }, open.subject) : null,
    rows && rows !== open.subject ? h("pre", { class: "proof" }, rows) : null,
    h("div", { class: "buttons options" }, options.map((option) =>
      h("button", { type: "button", disabled: !can, class: `meaning-${option.meaning}`, onclick: () => press(option) }, option.text))),
    can && refusable ? ownWords("No, and say so", "why, or what instead", (text) => answer(`no: ${text}`, "No")) : null,
    can && free ? ownWords("Answer", "in your own words", (text) => answer(text, "Answer")) : null,
    open.left_to_person ? h("p", { class: "hint" }, `Left to you: ${open.left_to_person}`) : null,
    open.policy?.why ? h("p", { class: "hint" }, `Your policy: ${open.policy.why}`) : null,
    open.ordered ? h("p", { class: "hint" }, `Answered: ${open.ordered}`) : null,
    can || open.ordered ? null : h("p", { class: "hint" }, `Answer in its terminal: koboshi attach ${name}`));
}

export function questionsView(name, order) {
  const node = h("div", { class: "questions", hidden: true });
  const sections = new Map();
  let turn = 0;
  let told = "";

  // One that has not changed stays as it is: somebody may be typing in it.
  function show(open) {
    const wanted = open.map((each) => {
      const key = JSON.stringify({ ...each, shown: each.through === "hook" ? each.shown : null });
      if (sections.get(each.id)?.key !== key) sections.set(each.id, { key, node: drawn(each, name, order) });
      return sections.get(each.id).node;
    });
    for (const id of [...sections.keys()]) if (!open.some((each) => each.id === id)) sections.delete(id);
    if (wanted.length !== node.children.length || wanted.some((each, n) => node.children[n] !== each)) node.replaceChildren(...wanted);
    node.hidden = !wanted.length;
  }

  async function renew(agent) {
    const asks = agent.status === "asking" || Boolean(agent.asked?.length);
    const key = JSON.stringify([asks, agent.question, agent.asked, agent.run?.number, agent.since]);
    if (key === told) return;
    told = key;
    const mine = ++turn;
    if (!asks) { show([]); return; }
    try {
      const waiting = await get("/api/questions");
      if (mine === turn) show(waiting.filter((each) => each.agent === name));
    } catch { told = ""; } // the board tells of it, and the next change asks again
  }

  return { node, renew };
}
