/** Passes a visitor's request on to the bot, and the bot's reply back as it comes. */

const MOST_BODY_BYTES = 16_384; // what the bot itself takes

// Named one by one: cookies, sign-ins and everything else of this site stay here.
const TO_BOT = ["accept", "accept-language", "content-type"];
const TO_VISITOR = ["allow", "cache-control", "content-type", "ratelimit", "ratelimit-policy", "retry-after",
  "x-accel-buffering", "x-request-id"];

/**
 * The bot's reply to the same request at `path`, streamed; a problem document when there is none.
 *
 * @param peer address this server got the request from, where it is not in X-Forwarded-For yet
 */
export async function askBot(path: string, request: Request, peer?: string): Promise<Response> {
  const body = request.method === "POST" ? await bodyOf(request) : undefined;
  if (body === null) return problem(413, "body-too-large", "The request is too large");
  const headers = picked(request.headers, TO_BOT);
  // The bot counts questions by address. It reads this from the right, past the proxies that it trusts.
  const chain = [request.headers.get("x-forwarded-for"), peer].filter(Boolean).join(", ");
  // Where Node listens for IPv6 as well, 192.0.2.1 is ::ffff:192.0.2.1 to it, which no list of proxies holds.
  if (chain) headers.set("x-forwarded-for", chain.replace(/(?<![\w:])::ffff:(?=\d+\.)/gi, ""));
  try {
    const reply = await fetch(new URL(path, process.env.BOT_URL || "http://127.0.0.1:7331"), {
      method: request.method,
      headers,
      body,
      cache: "no-store",
      redirect: "error",
      signal: request.signal, // a visitor who leaves frees the model
    });
    return new Response(reply.body, { status: reply.status, headers: picked(reply.headers, TO_VISITOR) });
  } catch {
    return problem(502, "unavailable", "The bot can't be reached", { "retry-after": "5" });
  }
}

/** The whole body, or null where it is too large. */
async function bodyOf(request: Request): Promise<Uint8Array<ArrayBuffer> | null> {
  if (Number(request.headers.get("content-length")) > MOST_BODY_BYTES) return null;
  const pieces: Uint8Array[] = [];
  const reader = request.body?.getReader();
  for (let size = 0; reader; ) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > MOST_BODY_BYTES) return null;
    pieces.push(value);
  }
  return Buffer.concat(pieces);
}

function picked(from: Headers, names: string[]): Headers {
  const found = new Headers();
  for (const name of names) {
    const value = from.get(name);
    if (value !== null) found.set(name, value);
  }
  return found;
}

function problem(status: number, code: string, title: string, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify({ type: "about:blank", title, status, code }), {
    status,
    headers: { "cache-control": "no-store", "content-type": "application/problem+json", ...headers },
  });
}
