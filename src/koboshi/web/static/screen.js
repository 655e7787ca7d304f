// The terminal, row by row, as pieces of styled text. What an escape sequence could do was taken
// out before it came here; what is left is text and stays text.

import { h } from "./dom.js";
import { on, screen } from "./live.js";

const LEVELS = [0, 95, 135, 175, 215, 255];

function colour(word) {
  if (word.startsWith("#")) return word;
  const n = Number(word);
  if (n < 16) return `var(--ansi-${n})`;
  if (n < 232) {
    const c = n - 16;
    return `rgb(${LEVELS[Math.floor(c / 36)]} ${LEVELS[Math.floor(c / 6) % 6]} ${LEVELS[c % 6]})`;
  }
  const grey = 8 + (n - 232) * 10;
  return `rgb(${grey} ${grey} ${grey})`;
}

function piece([text, style]) {
  if (!style) return document.createTextNode(text);
  const node = h("span");
  node.textContent = text;
  let reversed = false;
  let front = "";
  let ground = "";
  for (const part of style.split(" ")) {
    if (part[0] === "f") front = colour(part.slice(1));
    else if (part[0] === "g") ground = colour(part.slice(1));
    else {
      for (const letter of part) node.classList.add(`t-${letter}`);
      reversed = part.includes("r");
    }
  }
  if (reversed) [front, ground] = [ground || "var(--screen-ground)", front || "var(--screen-text)"];
  if (front) node.style.color = front;
  if (ground) node.style.backgroundColor = ground;
  return node;
}

export function screenView() {
  const rows = h("div", { class: "rows" });
  const problem = h("p", { class: "problem", hidden: true });
  const terminal = h("div", { class: "terminal", tabindex: 0, role: "img", "aria-label": "the agent's terminal" }, rows);
  const fit = h("button", { type: "button", class: "small", "aria-pressed": "false", onclick: () => {
    wide.removeEventListener("change", follow);
    fitted(!terminal.classList.contains("fit"));
  } }, "Fit width");
  // On a wide screen all of it is shown, until a person says otherwise; a window may become wide.
  const wide = matchMedia("(min-width: 64rem)");
  const follow = () => fitted(wide.matches);
  wide.addEventListener("change", follow);
  follow();
  const node = h("section", { class: "screen", "aria-labelledby": "screen" },
    h("div", { class: "bar" }, h("h2", { id: "screen" }, "Screen"), fit), problem, terminal);

  function fitted(on) {
    terminal.classList.toggle("fit", on);
    fit.setAttribute("aria-pressed", String(on));
  }

  function draw(told) {
    const state = screen.get("state") ?? {};
    problem.hidden = !state.error;
    problem.className = state.error?.endsWith("has no terminal") ? "hint" : "problem"; // it has ended
    fit.hidden = Boolean(state.error);
    problem.textContent = state.error ?? "";
    terminal.hidden = Boolean(state.error);
    if (state.cols) terminal.style.setProperty("--cols", String(state.cols));
    const count = Math.max(0, ...[...screen.keys()].filter((key) => key !== "state").map((key) => Number(key) + 1));
    const atEnd = terminal.scrollHeight - terminal.scrollTop - terminal.clientHeight < 30;
    while (rows.children.length > count) rows.lastChild.remove();
    while (rows.children.length < count) rows.append(h("div", { class: "row" }));
    const changed = told.full ? [...screen.keys()] : Object.keys(told.items);
    for (const key of changed) {
      if (key === "state" || !screen.has(key)) continue;
      rows.children[Number(key)].replaceChildren(...screen.get(key).map(piece));
    }
    if (atEnd) terminal.scrollTop = terminal.scrollHeight;
  }

  const off = on("screen", draw);
  return { node, close: () => { off(); wide.removeEventListener("change", follow); } };
}
