// Time from left to right: statuses as a bar, what happened as marks, context as a curve.
// Wheel, pinch, drag, buttons and keys move and zoom.

import { at, get } from "./api.js";
import { h, s, setText } from "./dom.js";
import { age, clock } from "./words.js";

const SPANS = [["1 h", 3600], ["6 h", 21600], ["12 h", 43200], ["2 d", 172800], ["14 d", 1209600]];
const HEIGHT = 150;
const BAR = { y: 58, height: 26 };
const CURVE = { y: 92, height: 34 };
const STEPS = [1, 2, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400, 172800];
const NARROWEST = 5; // seconds
const LANES = { error: 0, end: 0, escalate: 0, question: 1, answer: 1, start: 2, refresh: 2, load: 2, checkpoint: 2, stop: 2 };

// How full the context was, small enough to stand beside words.
export function sparkline(picture) {
  const points = picture.context;
  if (points.length < 2) return null;
  const [width, height] = [120, 24];
  const first = points[0][0];
  const x = (utc) => ((utc - first) / Math.max(1, picture.to - first)) * width;
  const y = (used) => 1 + (height - 2) * (1 - Math.min(100, used) / 100);
  const path = points.map(([utc, used], n) => (n ? `H${x(utc).toFixed(1)}V${y(used).toFixed(1)}` : `M0,${y(used).toFixed(1)}`)).join("");
  const words = `context ${Math.round(points.at(-1)[1])} % now, at most ${Math.round(Math.max(...points.map(([, used]) => used)))} %`;
  return s("svg", { class: "spark", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words },
    s("path", { class: "context", d: `${path}H${width}` }), s("title", {}, words));
}

export function timelineView(name, tellOf, drawnOf = () => {}) {
  const svg = s("svg", { class: "timeline", role: "img", tabindex: 0, "aria-label": "timeline of statuses" });
  const told = h("p", { class: "told", role: "status" });
  const list = h("ol", { class: "marks" });
  const spans = h("div", { class: "choices", role: "group", "aria-label": "how far back" });
  const node = h("section", { class: "past", "aria-labelledby": "past" },
    h("div", { class: "bar" }, h("h2", { id: "past" }, "Timeline"), spans), svg, told,
    h("details", {}, h("summary", {}, "What happened, as a list"), list));
  let picture = null;
  let view = null;
  let seconds = 43200;
  let untouched = true;

  for (const [word, length] of SPANS) {
    spans.append(h("button", { type: "button", class: "small", "data-seconds": length, onclick: () => { seconds = length; untouched = true; load(); } }, word));
  }

  for (const [word, factor, label] of [["−", 1.6, "zoom out"], ["+", 0.6, "zoom in"]]) {
    spans.append(h("button", { type: "button", class: "small zoom", "aria-label": label, onclick: () => zoom(factor) }, word));
  }

  async function load() {
    const asked = seconds;
    for (const each of spans.querySelectorAll("[data-seconds]")) each.setAttribute("aria-pressed", String(Number(each.dataset.seconds) === seconds));
    try {
      const found = await get(`${at(name, "timeline")}?seconds=${asked}`);
      if (asked !== seconds) return; // another span was chosen while this one came
      picture = found;
    } catch (error) {
      setText(told, error.message);
      return;
    }
    // Asked now, not when it was asked for: who zoomed meanwhile keeps what they see.
    if (untouched || !view) {
      // A young agent has no twelve hours: begin where it began.
      const first = picture.spans[0]?.from ?? picture.from;
      const margin = Math.max(0.3, (picture.to - first) * 0.03);
      view = { from: Math.max(picture.from, first - margin), to: picture.to };
    }
    draw();
    drawnOf(picture);
    const marks = picture.marks.slice(-40).reverse();
    list.replaceChildren(...marks.map((mark) => h("li", {},
      h("button", { type: "button", class: "plain", onclick: () => pick(mark) },
        h("time", {}, clock(mark.utc)), ` ${mark.words}`))));
  }

  function pick(mark) {
    setText(told, `${clock(mark.utc, true)}: ${mark.words}`);
    tellOf(mark.event);
  }

  function draw() {
    const width = Math.max(280, svg.clientWidth || 600);
    const x = (utc) => ((utc - view.from) / (view.to - view.from)) * width;
    svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    svg.dataset.length = String(view.to - view.from);
    const parts = [...bars(x, width), ...ticks(x, width), ...curve(x, width), ...marksOf(x, width)];
    svg.replaceChildren(...parts);
  }

  function bars(x, width) {
    return picture.spans.filter((each) => each.to > view.from && each.from < view.to).map((each) => {
      const left = Math.max(0, x(each.from));
      const right = Math.min(width, x(each.to));
      const word = each.meant ? "stopped" : each.status;
      const words = `${word} for ${age(each.to - each.from)}: ${each.reason.replaceAll("_", " ")}`;
      return s("rect", { class: `span is-${word}`, x: left, y: BAR.y, width: Math.max(1, right - left), height: BAR.height,
        onclick: () => setText(told, `${clock(each.from, true)}: ${words}`) }, s("title", {}, words));
    });
  }

  function ticks(x, width) {
    const step = STEPS.find((each) => (view.to - view.from) / each < width / 70) ?? 86400 * 7;
    const shift = new Date().getTimezoneOffset() * 60;
    const parts = [];
    for (let t = Math.ceil((view.from - shift) / step) * step + shift; t < view.to; t += step) {
      const short = new Date(t * 1000).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit", second: step < 60 ? "2-digit" : undefined, hour12: false });
      const word = step >= 86400 ? new Date(t * 1000).toLocaleDateString(undefined, { month: "short", day: "numeric" }) : short;
      if (x(t) < 18 || x(t) > width - 18) continue;
      parts.push(s("line", { class: "tick", x1: x(t), x2: x(t), y1: BAR.y - 2, y2: CURVE.y + CURVE.height }),
        s("text", { class: "when", x: x(t), y: HEIGHT - 6 }, word));
    }
    return parts;
  }

  function curve(x, width) {
    const points = picture.context;
    if (!points.length) return [];
    const y = (used) => CURVE.y + CURVE.height * (1 - Math.min(100, used) / 100);
    let path = "";
    points.forEach(([utc, used], n) => { path += n ? `H${x(utc)}V${y(used)}` : `M${x(utc)},${y(used)}`; });
    path += `H${Math.min(width, x(picture.to))}`;
    const last = points.at(-1)[1];
    return [s("path", { class: "context", d: path }, s("title", {}, `context ${Math.round(last)} % used`)),
      s("text", { class: "label", x: 2, y: CURVE.y + 9 }, `context ${Math.round(last)} %`)];
  }

  function marksOf(x, width) {
    return picture.marks.filter((each) => x(each.utc) >= 0 && x(each.utc) <= width).map((each) => {
      const y = 12 + 16 * (LANES[each.kind] ?? 1);
      return s("g", { class: `mark mark-${each.kind}`, transform: `translate(${x(each.utc)} ${y})`, onclick: () => pick(each) },
        s("line", { x1: 0, x2: 0, y1: 5, y2: BAR.y - y }), glyph(each.kind), s("title", {}, `${clock(each.utc)} ${each.words}`));
    });
  }

  function glyph(kind) {
    if (kind === "start") return s("path", { d: "M-3-5v10l8-5z" });
    if (kind === "end" || kind === "stop") return s("rect", { x: -4, y: -4, width: 8, height: 8 });
    if (kind === "error" || kind === "escalate") return s("path", { d: "M0-6 6 5H-6z" });
    if (kind === "question" || kind === "answer") return s("path", { d: "M0-6 6 0 0 6-6 0z" });
    return s("circle", { r: 4.5 });
  }

  function zoom(factor, where = 0.5) {
    if (!picture) return;
    const shown = view.to - view.from;
    const length = Math.min(picture.to - picture.from, Math.max(Math.min(NARROWEST, shown), shown * factor));
    const fixed = view.from + (view.to - view.from) * where;
    place(fixed - length * where, length);
  }

  function place(from, length) {
    const start = Math.max(picture.from, Math.min(from, picture.to - length));
    view = { from: start, to: start + length };
    untouched = false;
    draw();
  }

  const pan = (share) => picture && place(view.from + (view.to - view.from) * share, view.to - view.from);

  svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    const box = svg.getBoundingClientRect();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan(event.deltaX / box.width);
    else zoom(event.deltaY > 0 ? 1.25 : 0.8, (event.clientX - box.left) / box.width);
  }, { passive: false });
  const fingers = new Map();
  svg.addEventListener("pointerdown", (event) => fingers.set(event.pointerId, event.clientX));
  for (const end of ["pointerup", "pointercancel", "pointerleave"]) svg.addEventListener(end, (event) => fingers.delete(event.pointerId));
  svg.addEventListener("pointermove", (event) => {
    if (!fingers.has(event.pointerId)) return;
    const before = [...fingers.values()];
    const box = svg.getBoundingClientRect();
    const moved = event.clientX - fingers.get(event.pointerId);
    fingers.set(event.pointerId, event.clientX);
    if (fingers.size === 1) { if (moved) pan(-moved / box.width); return; }
    const spread = ([a, b]) => Math.max(20, Math.abs(a - b));
    const after = [...fingers.values()];
    zoom(spread(before) / spread(after), ((after[0] + after[1]) / 2 - box.left) / box.width);
  });
  svg.addEventListener("keydown", (event) => {
    const acts = { "+": () => zoom(0.7), "=": () => zoom(0.7), "-": () => zoom(1.4), ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2) };
    if (acts[event.key]) { event.preventDefault(); acts[event.key](); }
  });

  const resized = new ResizeObserver(() => picture && draw());
  resized.observe(svg);
  load();
  const timer = setInterval(() => !document.hidden && load(), 15000);
  return { node, renew: load, close: () => { clearInterval(timer); resized.disconnect(); } };
}
