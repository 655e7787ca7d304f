// Times and facts in words.

export function age(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min`;
  if (whole < 86400) return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
  return `${Math.floor(whole / 86400)} d ${Math.floor((whole % 86400) / 3600)} h`;
}

export function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1048576 ? `${Math.round(bytes / 1024)} kB` : `${(bytes / 1048576).toFixed(1)} MB`;
}

export function count(many) {
  if (many < 1000) return String(many);
  return many < 1e6 ? `${(many / 1e3).toFixed(1)} k` : `${(many / 1e6).toFixed(1)} M`;
}

export function clock(utc, withDay = false) {
  const options = { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false };
  if (withDay) Object.assign(options, { month: "short", day: "numeric" });
  return new Date(utc * 1000).toLocaleString(undefined, options);
}

export const now = () => Date.now() / 1000;

// "stopped" is what a person calls an end that was meant.
export function statusOf(agent) {
  if (!agent.watched) return "released";
  const exit = agent.run?.exit;
  if (agent.status === "gone" && (agent.halted || exit?.meant)) return "stopped";
  return agent.status;
}

export function needsPerson(agent) {
  const status = statusOf(agent);
  if (status === "stopped" || status === "released") return false;
  return status === "asking" || Boolean(agent.asked?.length) || Boolean(agent.given_up) || Boolean(agent.trouble) || status === "failed";
}

export function noteOf(agent) {
  if (agent.trouble && agent.watched) return agent.trouble;
  if (agent.given_up) return "gave up: see why, then acknowledge";
  if (agent.asked?.length) return agent.asked[0].question;
  if (agent.question && agent.status === "asking") return [agent.question.question, agent.question.subject].filter(Boolean).join(" ");
  if (agent.paused) return "supervision is paused";
  return String(agent.reason ?? "").replaceAll("_", " ");
}

const ORDER = ["asking", "failed", "unknown", "working", "starting", "limited", "idle", "gone", "stopped", "released"];

export function ranked(agents) {
  const rank = (each) => (needsPerson(each) ? 0 : 100) + ORDER.indexOf(statusOf(each));
  return [...agents].sort((a, b) => rank(a) - rank(b) || a.agent.localeCompare(b.agent));
}
