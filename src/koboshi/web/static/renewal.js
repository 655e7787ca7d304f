// Lists that are asked for when the stream says that another one is to be had, and not more often.

import { condition, news, on } from "./live.js";

const LEAST = 1000; // milliseconds between two questions: where much happens, nobody reads faster
const MOST = 60000; // what is found by nobody whom the daemon looks after is told by no number

// `load` is called now, and whenever one of these has another number; not while nobody looks or
// nobody could answer. Where it says false, it could not be loaded, and is asked for again as soon as
// the stream says anything of them.
export function renewal(names, load) {
  const numbers = () => names.map((each) => news.get(each)).join();
  let known = null;
  let asked = 0;
  let soon = 0;

  async function renew() {
    clearTimeout(soon);
    soon = 0;
    if (document.hidden || ["stale", "away"].includes(condition().word)) return;
    [known, asked] = [numbers(), performance.now()];
    if (await load() === false) known = null;
  }

  function due() {
    if (soon || numbers() === known) return;
    soon = setTimeout(renew, Math.max(0, asked + LEAST - performance.now()));
  }

  const seen = () => { if (!document.hidden) due(); };
  const off = on("news", due);
  document.addEventListener("visibilitychange", seen);
  const timer = setInterval(renew, MOST);
  renew();
  return () => { off(); document.removeEventListener("visibilitychange", seen); clearInterval(timer); clearTimeout(soon); };
}
