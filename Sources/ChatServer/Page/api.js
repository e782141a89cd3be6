// The requests of the page. The session is a cookie that scripts cannot read.

/** The server cannot be reached, or cannot answer now. What was asked may or may not have happened. */
export class Unreachable extends Error {
  constructor(message = "The server cannot be reached.", retryAfter = null) {
    super(message);
    this.retryAfter = retryAfter;
  }
}

/** The server rejected a request: a problem of RFC 9457. */
export class Problem extends Error {
  constructor(status, body, retryAfter = null) {
    super(body.detail || body.title || `Error ${status}`);
    this.status = status;
    this.code = body.code ?? "unknown";
    this.field = body.field ?? null;
    this.line = body.line ?? null;
    this.retryAfter = retryAfter;
  }
}

/** Is called when a request finds that the session has ended. */
let signedOut = () => {};
export function onSignedOut(handler) {
  signedOut = handler;
}

/** The tokens of the answers since `noteTokens`; null without a call. */
let tokens = null;

/** The position of the state that a token is of. */
export const tokenPosition = (token) => Number(token.split("-")[1]);

/** Notes of which states the answers are from now on. Returns a function that ends this. It returns the token of the
 * earliest state, after which a stream misses nothing; null if there is none. */
export function noteTokens() {
  const noted = (tokens = []);
  return () => {
    if (tokens === noted) tokens = null;
    return noted.sort((a, b) => tokenPosition(a) - tokenPosition(b))[0] ?? null;
  };
}

/** Sends a request and returns the body of the answer, or null if it has none. A time limit of null is none. */
export async function request(method, path, body, { timeLimit = 20_000 } = {}) {
  const { response, content } = await send(method, path, body, timeLimit, (response) => response.text());
  return response.ok ? parsed(content) : failed(response, content);
}

/** Sends a request and returns the content of the answer as a file, however long it takes. */
export async function download(path, body) {
  const { response, content } = await send("POST", path, body, null, (response) => (response.ok ? response.blob() : response.text()));
  return response.ok ? content : failed(response, content);
}

async function send(method, path, body, timeLimit, read) {
  const headers = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  try {
    const response = await fetch(path, {
      method, headers, body: body === undefined ? undefined : JSON.stringify(body), credentials: "same-origin",
      cache: "no-store", redirect: "error", signal: timeLimit === null ? undefined : AbortSignal.timeout(timeLimit),
    });
    const content = await read(response);
    const token = response.headers.get("Resume-Token");
    if (token) tokens?.push(token);
    return { response, content };
  } catch {
    throw new Unreachable();
  }
}

function parsed(text) {
  if (!text) return null;
  try {
    return JSON.parse(text);
  } catch {
    throw new Unreachable("The server gave an answer that is not of this program.");
  }
}

/** Throws the error of an answer. */
function failed(response, text) {
  const value = parsed(text);
  const seconds = Number(response.headers.get("Retry-After")) || null;
  // 502 and 504 come from a proxy whose server is gone, without a problem of ours.
  if (response.status >= 500) throw new Unreachable(value?.detail ?? undefined, seconds);
  const problem = new Problem(response.status, value ?? {}, seconds);
  if (problem.status === 401 && problem.code !== "invalidCredentials") signedOut(problem.code);
  throw problem;
}

export const get = (path) => request("GET", path);
export const post = (path, body, options) => request("POST", path, body, options);

/** Returns a path with its parts and its query escaped; a query value of null is left out. */
export function path(parts, query = {}) {
  const pairs = Object.entries(query).filter(([, value]) => value !== null && value !== undefined);
  const search = pairs.map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join("&");
  return "/v1/" + parts.map(encodeURIComponent).join("/") + (search ? "?" + search : "");
}

/** Reads every page of a list, oldest first, up to a number of items. */
export async function all(parts, limit = 2_000) {
  const items = [];
  let before = null;
  do {
    const page = await get(path(parts, { limit: 200, before }));
    items.unshift(...page.items);
    before = page.older;
  } while (before !== null && items.length < limit);
  return { items, isComplete: before === null };
}
