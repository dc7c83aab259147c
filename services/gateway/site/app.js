"use strict";
// The minimal page: asks the bot on the same origin and shows the stream. Text is only ever set as
// textContent, links only where they are http(s) or site-relative.

const SPANISH = (navigator.languages || [navigator.language || "en"])
  .map((tag) => tag.slice(0, 2).toLowerCase())
  .find((tag) => tag === "es" || tag === "en") === "es";

const TEXTS = SPANISH
  ? { lang: "es", title: (name) => `Pregunta a ${name}`, label: "Tu pregunta", send: "Preguntar",
      stop: "Parar", thinking: "Buscando en la web…", sources: "Fuentes", you: "Tú",
      queued: (n, s) => `Hay ${n} delante: unos ${s} segundos.`, stopped: "Parado.", done: "Respuesta completa.",
      reading: (p) => `Leyendo las fuentes: ${p} %`, suggestions: "Preguntas sugeridas",
      broken: "La respuesta se ha cortado. Vuelve a preguntar.", offline: "No hay conexión con el bot.",
      wait: (s) => `Demasiadas preguntas: espera ${s} segundos.`, long: "La pregunta es demasiado larga.",
      refused: "El bot no está disponible ahora. Inténtalo más tarde." }
  : { lang: "en", title: (name) => `Ask ${name}`, label: "Your question", send: "Ask",
      stop: "Stop", thinking: "Looking through the site…", sources: "Sources", you: "You",
      queued: (n, s) => `${n} before you: about ${s} seconds.`, stopped: "Stopped.", done: "Answer complete.",
      reading: (p) => `Reading the sources: ${p} %`, suggestions: "Suggested questions",
      broken: "The answer broke off. Please ask again.", offline: "The bot can't be reached.",
      wait: (s) => `Too many questions: wait ${s} seconds.`, long: "The question is too long.",
      refused: "The bot is not available now. Please try again later." };

const byId = (id) => document.getElementById(id);
const form = byId("form");
const box = byId("question");
const statusLine = byId("status");
const history = [];
let conversation = null;
let running = null;

function element(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text) node.textContent = text;
  return node;
}

function say(text, wrong) {
  statusLine.textContent = text;
  statusLine.classList.toggle("wrong", Boolean(wrong));
}

function safeLink(url) {
  try {
    const target = new URL(url, location.href);
    return target.protocol === "https:" || target.protocol === "http:" ? target.href : null;
  } catch {
    return null;
  }
}

function showSources(item, passages) {
  if (!passages.length) return;
  const list = element("ul", "sources");
  list.setAttribute("aria-label", TEXTS.sources);
  for (const passage of passages) {
    const line = element("li", "", `[${passage.n}] `);
    const name = [passage.title, passage.section].filter(Boolean).join(" — ");
    const href = passage.url && safeLink(passage.url);
    const label = element(href ? "a" : "span", "", name);
    label.lang = passage.lang;
    if (href) {
      label.href = href;
      label.rel = "noopener noreferrer nofollow";
    }
    line.append(label);
    list.append(line);
  }
  item.append(list);
}

async function* events(body) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let pending = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    pending += decoder.decode(value, { stream: true });
    const blocks = pending.split("\n\n");
    pending = blocks.pop();
    for (const block of blocks) if (block.startsWith("data:")) yield JSON.parse(block.slice(5));
  }
}

async function refusal(reply) {
  if (reply.status === 429) return TEXTS.wait(reply.headers.get("Retry-After") || 60);
  if (reply.status === 422) return TEXTS.long;
  return TEXTS.refused;
}

/** Ask, show, and return the answer's text; throws a text for the visitor when there is none. */
async function answer(question, item, signal) {
  const text = item.appendChild(element("p", "text"));
  const messages = [...history.slice(-10), { role: "user", content: question }];
  const body = { messages, stream: true };
  if (conversation) body.conversation_id = conversation;
  const reply = await fetch("/api/chat", {
    method: "POST", signal, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  });
  if (!reply.ok) throw await refusal(reply);
  let passages = [];
  for await (const event of events(reply.body)) {
    if (event.type === "start") conversation = event.conversation_id;
    else if (event.type === "queued") say(TEXTS.queued(event.position, Math.ceil(event.eta_seconds)));
    else if (event.type === "sources") passages = event.passages;
    else if (event.type === "progress") say(TEXTS.reading(Math.floor((100 * event.processed) / Math.max(1, event.total))));
    else if (event.type === "chunk") {
      say("");
      text.textContent += event.content;
    } else if (event.type === "error") throw event.message;
    else if (event.type === "done") {
      showSources(item, passages);
      return text.textContent;
    }
  }
  throw TEXTS.broken; // a stream without its last event has failed
}

async function ask(question) {
  if (running || !question.trim()) return;
  running = new AbortController();
  byId("send").hidden = true;
  byId("stop").hidden = false;
  const mine = element("li", "mine");
  mine.append(element("p", "text", question));
  const item = element("li");
  byId("log").append(mine, item);
  say(TEXTS.thinking);
  try {
    const text = await answer(question, item, running.signal);
    history.push({ role: "user", content: question }, { role: "assistant", content: text });
    say(TEXTS.done);
  } catch (problem) {
    // A failed or stopped turn is not kept: the model must not take it for an answer.
    if (problem && problem.name === "AbortError") say(TEXTS.stopped);
    else say(typeof problem === "string" ? problem : TEXTS.offline, true);
    if (!item.textContent) item.remove();
  } finally {
    running = null;
    byId("send").hidden = false;
    byId("stop").hidden = true;
    box.focus();
  }
}

async function introduce() {
  document.documentElement.lang = TEXTS.lang;
  byId("label").textContent = TEXTS.label;
  byId("send").textContent = TEXTS.send;
  byId("stop").textContent = TEXTS.stop;
  byId("suggestions").setAttribute("aria-label", TEXTS.suggestions);
  try {
    const info = await (await fetch("/api/info")).json();
    document.title = TEXTS.title(info.name);
    byId("title").textContent = TEXTS.title(info.name);
    byId("topics").textContent = (info.topics[TEXTS.lang] || []).join(" · ");
    for (const question of info.suggested_questions[TEXTS.lang] || []) {
      const button = element("button", "", question);
      button.type = "button";
      button.addEventListener("click", () => ask(question));
      byId("suggestions").append(button);
    }
  } catch {
    say(TEXTS.offline, true);
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const question = box.value;
  if (!running && question.trim()) box.value = "";
  ask(question);
});
box.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    form.requestSubmit();
  }
});
byId("stop").addEventListener("click", () => running && running.abort());
introduce();
