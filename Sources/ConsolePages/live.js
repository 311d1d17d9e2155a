// One stream of server-sent events for the whole page: a snapshot each second, and the totals of the last minutes. It ends
// with the session. It is closed while the page is hidden, since a browser grants a host six connections for all its tabs.

import {get} from "./api.js";

const listeners = new Set();
const mostSamples = 300;
/** What is late by this much, in milliseconds, is stale. */
const patience = 3500;

export const live = {
  /** Totals, one a second, oldest first: {id, time, received, accepted, rejected, late}. */
  samples: [],
  /** The last snapshot; null before the first. */
  snapshot: null,
  /** When it came, as a Date; null before the first. */
  at: null,
  /** Whether it is older than it should be. */
  isStale: false,
  /** Whether somebody is logged in who wants counts. */
  wanted: false,
  /** Why there is no stream, where the instance has said so; empty otherwise. */
  problem: "",
};

let source = null;
let retry = null;
/** Since when it is listened again, in milliseconds: what a hidden page has missed is not late. */
let resumed = Date.now();

/** Totals, one a second, of what has come to each of them since the one before. */
function totals(added) {
  const [samples, sums] = [[], {}];
  for (const place of added.id.keys()) {
    for (const [name, all] of Object.entries(added)) sums[name] = (sums[name] ?? 0) + all[place];
    const {milliseconds, ...others} = sums;
    samples.push({...others, time: milliseconds / 1000});
  }
  return samples;
}

/** Calls `listener(live)` after each snapshot and when it becomes stale, until `signal` is aborted. */
export function subscribe(listener, signal) {
  listeners.add(listener);
  signal?.addEventListener("abort", () => listeners.delete(listener));
  if (live.snapshot) listener(live);
}

/** Begins to listen; again it does nothing. */
export function connect() {
  clearTimeout(retry);
  if (source || document.hidden) return;
  source = new EventSource("api/live");
  source.addEventListener("history", (event) => {
    const samples = totals(JSON.parse(event.data));
    const first = samples[0]?.id ?? Infinity;
    const last = live.samples.at(-1)?.id ?? 0;
    // Another instance counts from the beginning.
    live.samples = first > last + 1 && first !== Infinity || first === 1 ? samples : [...live.samples, ...samples];
    live.samples = live.samples.slice(-mostSamples);
  });
  source.addEventListener("snapshot", (event) => {
    live.snapshot = JSON.parse(event.data);
    live.at = new Date();
    live.isStale = false;
    live.problem = "";
    if (live.snapshot.sample.id > (live.samples.at(-1)?.id ?? 0)) live.samples.push(live.snapshot.sample);
    if (live.samples.length > mostSamples) live.samples.shift();
    tell();
  });
  source.addEventListener("error", () => {
    // While it is connecting again the browser does what is to be done.
    if (source?.readyState === EventSource.CLOSED) ask();
  });
  // The session has ended, or whoever opened it has logged out.
  source.addEventListener("ended", ask);
}

/** Asks why there is no stream: the browser does not tell. That nobody is logged in the shell hears by itself. */
async function ask() {
  disconnect();
  try {
    const session = await get("session");
    live.problem = session.streamsLeft > 0 ? "" : "As many pages are open as may listen: close one.";
  } catch (error) {
    if (error.status === 401) return;
    live.problem = error.message;
  }
  if (live.wanted) retry = setTimeout(connect, 2000);
  tell();
}

/** Ends listening. */
export function disconnect() {
  clearTimeout(retry);
  source?.close();
  source = null;
}

function tell() { for (const listener of [...listeners]) listener(live); }

document.addEventListener("visibilitychange", () => {
  if (document.hidden) { disconnect(); } else if (live.wanted) { resumed = Date.now(); connect(); }
});

setInterval(() => {
  const isLate = !document.hidden && live.at !== null
    && Date.now() - Math.max(live.at.getTime(), resumed) > patience;
  if (isLate === live.isStale) return;
  live.isStale = isLate;
  tell();
}, 500);
