// Questions and orders to our own server. The cookie goes by itself; the word against forgery does not.

export const session = { scope: "read", csrf: "", verbs: [] };

export class Failure extends Error {
  constructor(status, message, hint) {
    super(hint ? `${message} (${hint})` : message);
    this.status = status;
  }
}

async function asked(path, options) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", cache: "no-store", ...options });
  } catch {
    throw new Failure(0, "the server cannot be reached", "");
  }
  let body = {};
  try {
    body = await response.json();
  } catch { /* said below */ }
  if (response.ok) return body;
  throw new Failure(response.status, body.error?.message ?? `answer ${response.status}`, body.error?.hint);
}

export const get = (path) => asked(path, {});

export function post(path, body = {}) {
  const headers = { "Content-Type": "application/json", "X-Koboshi-CSRF": session.csrf };
  return asked(path, { method: "POST", headers, body: JSON.stringify(body) });
}

export async function enter() {
  Object.assign(session, await get("/api/session"));
}

export const mayAnswer = () => session.verbs.includes("answer");
export const maySteer = () => session.scope === "steer";
export const at = (name, word = "") => `/api/agents/${encodeURIComponent(name)}${word ? `/${word}` : ""}`;
