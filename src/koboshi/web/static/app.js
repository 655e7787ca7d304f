// Start reading here: come in, then show the board or one agent, by what stands behind the `#`.

import { enter, post } from "./api.js";
import { agentView } from "./agent.js";
import { boardView } from "./board.js";
import { h, setText } from "./dom.js";
import { incidentsView } from "./incidents.js";
import { condition, leave, on, watch } from "./live.js";
import { planView } from "./plan.js";
import { rulesView } from "./rules.js";

const main = document.getElementById("main");
const link = document.getElementById("link");
let close = () => {};

// The link's secret stands behind the `#`, which no browser sends; it leaves the address at once.
async function comeIn() {
  const found = location.hash.match(/^#login=([A-Za-z0-9_-]+)$/);
  if (!found) return "";
  history.replaceState(null, "", "/");
  try {
    await post("/login", { ticket: found[1] });
    return "";
  } catch (error) {
    return error.message;
  }
}

function shut(why) {
  link.textContent = "";
  main.replaceChildren(h("section", { class: "shut" },
    h("h1", {}, "Not logged in"),
    why ? h("p", { class: "problem", role: "alert" }, why) : null,
    h("p", {}, "On the machine where koboshi runs, type"),
    h("pre", {}, "koboshi serve --link"),
    h("p", {}, "and open the link it prints. It lets one browser in, once.")));
}

// What stands behind the `#`: a view's word, what it is about, and, behind a `?`, what of it.
const VIEWS = new Map([["agent", agentView], ["incidents", incidentsView], ["plan", planView], ["rules", rulesView]]);

function asked() {
  const found = location.hash.match(/^#\/([a-z]+)(?:\/([^?]*))?(?:\?(.*))?$/);
  try { return { word: found?.[1] ?? "", about: decodeURIComponent(found?.[2] ?? ""), more: new URLSearchParams(found?.[3] ?? "") }; } catch { return { word: "", about: "" }; }
}

function show() {
  close();
  const { word, about, more } = asked();
  const name = word === "agent" ? about : "";
  const made = ["agent", "plan"].includes(word) && !about ? boardView : VIEWS.get(word) ?? boardView;
  const view = made(about, more);
  close = view.close;
  if (name || view.title) document.title = `${name || view.title} – koboshi`; // the board has its own
  for (const each of document.querySelectorAll(".views a")) {
    const here = each.getAttribute("href") === (VIEWS.has(word) && !["agent", "plan"].includes(word) ? `#/${word}` : "#/");
    if (here) each.setAttribute("aria-current", "page"); else each.removeAttribute("aria-current");
  }
  main.replaceChildren(view.node);
  watch(name);
  scrollTo(0, 0);
}

function showLink() {
  const { word, text } = condition();
  link.className = `link ${word}`;
  document.body.classList.toggle("old", word === "stale" || word === "away");
  setText(link, text);
}

async function begin() {
  const problem = await comeIn();
  // The stream begins meanwhile: what it brings first is the most there is to wait for.
  const { word, about } = asked();
  watch(word === "agent" ? about : "");
  try {
    await enter();
  } catch (error) {
    leave();
    shut(error.status === 401 ? problem : error.message);
    return;
  }
  document.querySelector(".views").hidden = false;
  on("link", showLink);
  setInterval(showLink, 1000);
  addEventListener("hashchange", () => { if (location.hash !== "#main") { show(); main.focus({ preventScroll: true }); } });
  showLink();
  show();
}

begin();
