// Elements from values. Text becomes text nodes and nothing else: what an agent prints is data.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, props, children) {
  for (const [key, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? "" : String(value));
  }
  node.append(...children.flat().filter((each) => each !== null && each !== undefined && each !== false));
  return node;
}

export function h(tag, props, ...children) {
  return fill(document.createElement(tag), props, children);
}

export function s(tag, props, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// Shapes beside words and colours: each status is told three ways.
const SHAPES = {
  starting: () => [s("circle", { cx: 8, cy: 8, r: 5.5, class: "line" }), s("path", { d: "M8 8V2.500A5.500 5.500 0 0 1 13.500 8z" })],
  working: () => [s("path", { d: "M4 2.500v11l9-5.500z" })],
  idle: () => [s("circle", { cx: 8, cy: 8, r: 5, class: "line" })],
  asking: () => [s("path", { d: "M2 1.500h12q1 0 1 1v8q0 1-1 1H9l-4.500 4v-4H2q-1 0-1-1v-8q0-1 1-1z" }), s("path", { d: "M4.500 6.500h.1M8 6.500h.1M11.500 6.500h.1", class: "ink" })],
  limited: () => [s("path", { d: "M3.500 1.500h9L9 8l3.500 6.500h-9L7 8z" })],
  failed: () => [s("path", { d: "M3.300 1.500 8 6.200l4.700-4.700 1.800 1.800L9.800 8l4.700 4.700-1.800 1.800L8 9.800l-4.700 4.700-1.800-1.800L6.200 8 1.500 3.300z" })],
  gone: () => [s("rect", { x: 2.5, y: 2.5, width: 11, height: 11, class: "line dash" })],
  released: () => [s("path", { d: "M2.500 8h11", class: "line" })],
  stopped: () => [s("rect", { x: 3, y: 3, width: 10, height: 10 })],
  unknown: () => [s("path", { d: "M8 1.500 14.500 14h-13z", class: "line" }), s("path", { d: "M8 6v3.500M8 11.500v.3", class: "line" })],
};

export function shape(status) {
  const draw = SHAPES[status] ?? SHAPES.unknown;
  return s("svg", { viewBox: "0 0 16 16", class: "shape", "aria-hidden": "true" }, draw());
}
