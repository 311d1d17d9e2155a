// Requests to the instance. What is refused is an ApiError with the words of the server.

export class ApiError extends Error {
  constructor(status, code, message) {
    super(message);
    Object.assign(this, {status, code});
  }
  /** Whether nothing answered, so that what is shown may be out of date. */
  get isUnreachable() { return this.status === 0; }
}

const listeners = new Set();
/** Calls `listener` when a request finds that nobody is logged in. */
export const onLoginNeeded = (listener) => listeners.add(listener);

async function ask(method, path, body, signal) {
  let answer;
  try {
    answer = await fetch("api/" + path, {
      method, signal, cache: "no-store", credentials: "same-origin", redirect: "error",
      headers: body === undefined ? {} : {"Content-Type": "application/json"},
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, "unreachable", "The instance does not answer.");
  }
  let value = null;
  try { value = await answer.json(); } catch { /* no JSON: the status says enough */ }
  if (answer.ok) return value;
  const refused = new ApiError(answer.status, value?.error ?? "failed", value?.message ?? `status ${answer.status}`);
  if (answer.status === 401 && refused.code === "loginNeeded") listeners.forEach((listener) => listener());
  throw refused;
}

/** GET api/PATH; `query` is an object whose empty members are left out. */
export function get(path, query = {}, signal) {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const text = new URLSearchParams(pairs).toString();
  return ask("GET", text ? `${path}?${text}` : path, undefined, signal);
}

/** POST api/PATH with `body` as JSON. */
export const post = (path, body = {}, signal) => ask("POST", path, body, signal);
