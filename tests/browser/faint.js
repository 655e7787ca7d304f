// Every word on the page that stands out from its ground by less than WCAG AA asks for.
(() => {
  const LEAST = 4.5;
  const channel = (value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const light = (rgb) => rgb.slice(0, 3)
    .reduce((sum, value, n) => sum + channel(value / 255) * [0.2126, 0.7152, 0.0722][n], 0);
  const parts = (text) => {
    const numbers = text.match(/[\d.]+/g).map(Number);
    const scale = text.startsWith("color(") ? 255 : 1;
    return [...numbers.slice(0, 3).map((value) => value * scale), numbers[3] ?? 1];
  };
  const ground = (node) => {
    for (; node; node = node.parentElement) {
      const colour = parts(getComputedStyle(node).backgroundColor);
      if (colour[3] > 0.5) return colour;
    }
    return [255, 255, 255];
  };
  const words = (node) => [...node.childNodes].filter((each) => each.nodeType === 3)
    .map((each) => each.data.trim()).join("");
  const found = [];
  for (const node of document.querySelectorAll("body *")) {
    const aside = node.closest("svg, .terminal, .hidden, .skip, :disabled");
    if (!words(node) || !node.checkVisibility() || aside) continue;
    const pair = [light(parts(getComputedStyle(node).color)), light(ground(node))];
    const ratio = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
    if (ratio < LEAST) found.push(`${ratio.toFixed(2)} ${node.className} ${words(node).slice(0, 30)}`);
  }
  return found;
})()
