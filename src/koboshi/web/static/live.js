// The stream of changes: full state first, then what changed. Says when what is shown may be old.

import { get } from "./api.js";
import { now } from "./words.js";

const SILENT = 25; // seconds without a word, of which there is one every ten

export const agents = new Map();
export const screen = new Map();
export const plans = new Map();
export const news = new Map();

const state = { heard: 0, open: false, up: true, since: 0, known: false };
const listeners = { board: new Set(), screen: new Set(), link: new Set(), plans: new Set(), news: new Set() };
let source = null;
let watched = "";
let retry = 0;

export function on(topic, listener) {
  listeners[topic].add(listener);
  return () => listeners[topic].delete(listener);
}

const tell = (topic, told) => listeners[topic].forEach((listener) => listener(told));

function take(map, told) {
  if (told.full) map.clear();
  for (const [key, value] of Object.entries(told.items)) map.set(key, value);
  for (const key of told.gone) map.delete(key);
}

function heard() {
  state.heard = now();
  state.open = true;
  retry = 0;
  tell("link");
}

export function watch(agent) {
  if (source && agent === watched) return;
  watched = agent;
  screen.clear();
  connect();
}

export function leave() {
  source?.close();
  source = null;
}

function connect() {
  leave();
  const mine = new EventSource(`/api/stream${watched ? `?agent=${encodeURIComponent(watched)}` : ""}`);
  source = mine;
  const listen = (name, act) => mine.addEventListener(name, (event) => {
    if (mine !== source) return;
    act(JSON.parse(event.data));
    heard();
  });
  listen("beat", () => {});
  listen("link", (told) => {
    state.up = told.items.daemon.up;
    state.since = told.items.daemon.utc;
    if (state.up) state.known = true;
    tell("board", { full: false, items: {}, gone: [] });
  });
  listen("board", (told) => { state.known = true; take(agents, told); tell("board", told); });
  listen("plans", (told) => { take(plans, told); tell("plans", told); });
  listen("news", (told) => { take(news, told); tell("news", told); });
  listen("screen", (told) => { take(screen, told); tell("screen", told); });
  mine.onerror = () => {
    if (mine !== source) return;
    state.open = false;
    tell("link");
    if (mine.readyState === EventSource.CLOSED) again();
  };
}

// A refusal ends an EventSource for good: ask why, and try again unless we were shown the door.
async function again() {
  retry = Math.min(retry + 1, 6);
  const mine = source;
  await new Promise((done) => setTimeout(done, 500 * 2 ** (retry - 1)));
  if (mine !== source) return;
  try {
    await get("/api/session");
  } catch (error) {
    if (error.status === 401) { leave(); location.reload(); return; }
  }
  if (mine === source) connect();
}

export function condition() {
  const silent = now() - state.heard;
  if (!state.heard) return { word: "connecting", text: "connecting …" };
  if (!state.open || silent > SILENT) return { word: "stale", text: `no connection for ${Math.round(silent)} s: this may be old` };
  if (!state.up) return { word: "away", text: `koboshi's daemon is away: this may be old` };
  return { word: "live", text: "live" };
}

export const known = () => state.known;

addEventListener("online", () => watched !== null && source && connect());
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && source && now() - state.heard > SILENT) connect();
});
