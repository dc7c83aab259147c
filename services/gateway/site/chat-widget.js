/*! portfolio-bot chat widget. One script tag, no dependency, no third party; docs/widget.md has the rest.
 *  Everything a visitor, a model or a page wrote becomes a text node: no HTML is ever parsed here. */
(() => {
  "use strict";
  const current = document.currentScript;
  const script = current instanceof HTMLScriptElement && current.src ? current
    : document.querySelector('script[src*="chat-widget.js"]');
  if (!script || (window.RonyChat && typeof window.RonyChat.destroy === "function")) return;

  // ---- settings ---------------------------------------------------------------------------------

  const options = { ...script.dataset };
  const CSS_URL = new URL("chat-widget.css", script.src).href;
  const API = addresses(options.apiUrl);
  const STORE = `rony-chat:${API.chat}`;
  const KEEP_TURNS = 30, SENT_TURNS = 5, KEEP_MS = 30 * 864e5;
  const MOST_BODY_BYTES = 15000; // the bot refuses more than 16,384
  const NEAR_END_PX = 64;
  const REASONS = ["wrong", "incomplete", "unclear", "outdated", "other"];

  /** An origin gets /api/chat; a path is a proxy and is taken as it is. */
  function addresses(given) {
    const url = new URL(given || new URL(script.src).origin, document.baseURI);
    const path = url.pathname.replace(/\/$/, "") || "/api/chat";
    const beside = path.endsWith("/chat") ? path.slice(0, -5) : path;
    return { chat: url.origin + path, info: `${url.origin}${beside}/info`,
      feedback: `${url.origin}${beside}/feedback` };
  }

  const LANG = [options.lang, document.documentElement.lang, ...(navigator.languages || [navigator.language])]
    .map((tag) => String(tag || "").slice(0, 2).toLowerCase()).find((tag) => tag === "es" || tag === "en") || "en";

  const T = LANG === "es" ? {
    launch: "Pregunta", title: (name) => name ? `Pregunta a ${name}` : "Pregunta a esta web",
    greet: (topics) => "Hola. Respondo con lo que hay publicado en esta web"
      + (topics ? `: ${topics}.` : ", y enlazo de dónde sale."),
    close: "Cerrar el chat", forget: "Olvidar la conversación", forgotten: "Conversación olvidada.",
    log: "Conversación", you: "Tú", bot: "Respuesta", ask: "Escribe tu pregunta", send: "Enviar", stop: "Parar",
    notice: "Responde una IA y puede equivocarse: mira las fuentes.", suggested: "Preguntas sugeridas",
    searching: "Buscando en la web…", thinking: "Pensando la respuesta…", sources: "Fuentes",
    near: "Páginas cercanas", source: "Fuente", inLang: { en: "en inglés", es: "en español" },
    reading: (p) => `Leyendo las fuentes: ${p} %`, readingBar: "Lectura de las fuentes",
    queued: (n, s) => `${n > 1 ? `Eres el número ${n} en la cola` : "Eres el siguiente"}${s ? `: unos ${s} s` : ""}`,
    folded: (n) => `Se han resumido ${n} turnos anteriores.`, more: "Texto nuevo", table: "Tabla", code: "Código",
    copy: "Copiar", copied: "Copiado", up: "Útil", down: "No es útil", why: "¿Qué ha fallado?", thanks: "Gracias.",
    reasons: ["Es incorrecta", "Está incompleta", "No se entiende", "Está anticuada", "Otra cosa"],
    retry: "Volver a intentar", again: "Preguntar otra vez", inSeconds: (s) => `en ${s} s`,
    cut: "La respuesta se ha cortado.", stopped: "Respuesta parada.", offline: "No hay conexión con el chat.",
    limited: "Demasiadas preguntas seguidas.", busy: "Hay mucha gente preguntando ahora.",
    long: (n) => `La pregunta es demasiado larga${n ? `: el máximo son ${n} caracteres` : ""}.`,
    origin: "El chat no admite preguntas desde esta web.", down2: "El chat no está disponible ahora.",
    image: "imagen",
  } : {
    launch: "Ask", title: (name) => name ? `Ask ${name}` : "Ask this site",
    greet: (topics) => "Hello. I answer from what is published on this site"
      + (topics ? `: ${topics}.` : ", and link to where it says so."),
    close: "Close the chat", forget: "Forget this conversation", forgotten: "Conversation forgotten.",
    log: "Conversation", you: "You", bot: "Answer", ask: "Write your question", send: "Send", stop: "Stop",
    notice: "An AI answers and can be wrong: check the sources.", suggested: "Suggested questions",
    searching: "Looking through the site…", thinking: "Thinking…", sources: "Sources",
    near: "Nearest pages", source: "Source", inLang: { en: "in English", es: "in Spanish" },
    reading: (p) => `Reading the sources: ${p} %`, readingBar: "Reading the sources",
    queued: (n, s) => `${n > 1 ? `You are number ${n} in line` : "You are next"}${s ? `: about ${s} s` : ""}`,
    folded: (n) => `${n} earlier turns were summarised.`, more: "New text", table: "Table", code: "Code",
    copy: "Copy", copied: "Copied", up: "Helpful", down: "Not helpful", why: "What was wrong?", thanks: "Thank you.",
    reasons: ["It is wrong", "It is incomplete", "It is unclear", "It is outdated", "Something else"],
    retry: "Try again", again: "Ask again", inSeconds: (s) => `in ${s} s`,
    cut: "The answer broke off.", stopped: "Answer stopped.", offline: "The chat can't be reached.",
    limited: "Too many questions in a row.", busy: "Many people are asking right now.",
    long: (n) => `The question is too long${n ? `: ${n} characters at most` : ""}.`,
    origin: "The chat takes no questions from this site.", down2: "The chat is not available now.",
    image: "image",
  };

  // ---- small tools ------------------------------------------------------------------------------

  const text = (value) => typeof value === "string" ? value : "";
  // Control characters, bidirectional overrides, zero-width and tag characters never reach the page.
  const HIDDEN = /[\0-\x08\v-\x1f\x7f-\x84\x86-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]|\u{e0001}|[\u{e0020}-\u{e007f}]/gu;
  const clean = (value) => text(value).replace(HIDDEN, "");

  /** An element; attributes are constants of this file or addresses that `safeUrl` let through. */
  function el(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (typeof value === "function") node.addEventListener(name, value);
      else if (value !== null && value !== false) node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children);
    return node;
  }

  const ICONS = {
    chat: "M4 5h16v11H9l-5 4z", close: "M6 6l12 12M18 6L6 18", forget: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
    send: "M4 12l16-8-5 16-4-6z", stop: "M7 7h10v10H7z", down: "M12 5v14M6 13l6 6 6-6", copy: "M9 9h10v11H9zM5 15V4h10",
    up: "M7 11v9H4v-9zM7 11l4-7c2 0 2 1 2 2v4h6l-1 10H7", no: "M7 13V4H4v9zM7 13l4 7c2 0 2-1 2-2v-4h6L18 4H7",
    again: "M5 12a7 7 0 1 1 2 5M5 19v-4h4",
  };
  function icon(name) {
    const make = (tag) => document.createElementNS("http://www.w3.org/2000/svg", tag);
    const svg = make("svg"), path = make("path");
    svg.setAttribute("viewBox", "0 0 24 24");
    svg.setAttribute("aria-hidden", "true");
    path.setAttribute("d", ICONS[name]);
    if (name === "stop") path.setAttribute("fill", "currentColor");
    svg.append(path);
    return svg;
  }

  /** http(s) and mailto only; another host only where the address names it in full. */
  function safeUrl(raw) {
    try {
      const given = clean(raw).trim();
      const url = new URL(given, document.baseURI);
      if (url.protocol === "mailto:") return url;
      if (!/^https?:$/.test(url.protocol) || url.username || url.password) return null;
      return /^https?:\/\//i.test(given) || url.origin === new URL(document.baseURI).origin ? url : null;
    } catch { return null; }
  }

  function link(url, attributes, ...children) {
    const foreign = url.origin !== location.origin && url.protocol !== "mailto:";
    return el("a", { href: url.href, rel: "noopener noreferrer nofollow", target: foreign ? "_blank" : null,
      ...attributes }, ...children);
  }

  /** Heading anchor of the passage, and a text fragment that marks the quoted words. */
  function passageUrl(passage) {
    const url = passage.url ? safeUrl(passage.url) : null;
    if (!url || url.protocol === "mailto:") return null;
    const words = passage.quote.replace(/…$/, "").split(/\s+/).filter(Boolean);
    if (!words.length || url.hash.includes(":~:")) return url;
    const encode = (part) => encodeURIComponent(part.join(" ")).replace(/-/g, "%2D");
    try {
      const marked = words.length > 9 ? `${encode(words.slice(0, 4))},${encode(words.slice(-4))}` : encode(words);
      url.hash = `${url.hash || "#"}:~:text=${marked}`;
    } catch { /* a lone surrogate: the anchor alone will do */ }
    return url;
  }

  const SPANISH = /\b(?:el|los|las|qué|que|cómo|con|para|por|una|del|está|son|se|es|hay|y|de|en|no)\b|[ñ¿¡]/giu;
  const ENGLISH = /\b(?:the|what|how|which|with|for|and|of|is|are|does|do|there|to|it|can|you|not|this|that)\b/gi;
  const count = (pattern, value) => (value.slice(0, 2000).match(pattern) || []).length;
  /** Language of a text by its commonest words; null where nothing speaks for one. */
  function languageOf(value) {
    const difference = count(SPANISH, value) - count(ENGLISH, value);
    return difference > 0 ? "es" : difference < 0 ? "en" : null;
  }

  // ---- Markdown: a small subset, built as nodes ---------------------------------------------------

  const FENCE = /^([ \t]*)(`{3,}|~{3,})([^`]*)$/;
  const HEADING = /^ {0,3}#{1,6}[ \t]+(.*)$/;
  const RULE = /^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/;
  const ITEM = /^([ \t]*)([-*+]|\d{1,9}[.)])(?:[ \t]+(.*))?$/;
  const QUOTE = /^ {0,3}> ?(.*)$/;
  const DELIMITER = /^ *\|?(?: *:?-+:? *\|)* *:?-+:? *\|? *$/;
  const MOST_DEPTH = 4, MOST_COLUMNS = 30;

  const cells = (line) => line.trim().replace(/^\|/, "").replace(/\\\|/g, "\0").replace(/\|$/, "").split("|")
    .map((cell) => cell.replace(/\0/g, "|").trim());

  /** Blocks in order, each with the offset where it ends and a function that builds its node. Where a block
   *  ends depends on its own lines and the first line after it only: that is what lets `Markdown` keep all
   *  but the last two while text still comes. */
  function blocks(source, depth) {
    const lines = source.split("\n"), found = [];
    let i = 0, passed = 0, counted = 0;
    const add = (build) => {
      for (; counted < i && counted < lines.length; counted++) passed += lines[counted].length + 1;
      found.push({ end: Math.min(passed, source.length), build });
    };
    const interrupts = (line) => {
      const item = ITEM.exec(line);
      return !line.trim() || FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line)
        || Boolean(item && item[3] && (item[2].length === 1 || /^1[.)]$/.test(item[2])));
    };
    while (i < lines.length) {
      const line = lines[i];
      let match;
      if (!line.trim()) {
        i++;
      } else if ((match = FENCE.exec(line))) {
        const [, indent, fence] = match, body = [];
        const closes = (other) => {
          const mark = other.trim();
          return mark.length >= fence.length && mark === fence[0].repeat(mark.length);
        };
        for (i++; i < lines.length && !closes(lines[i]); i++) {
          body.push(lines[i].startsWith(indent) ? lines[i].slice(indent.length) : lines[i].trimStart());
        }
        i++;
        add(() => el("pre", { tabindex: "0", role: "group", "aria-label": T.code }, el("code", {}, body.join("\n"))));
      } else if ((match = HEADING.exec(line))) {
        const title = match[1].replace(/[ \t]#+[ \t]*$/, "");
        i++;
        add((spans) => { const strong = el("strong"); spans(strong, title); return el("p", { class: "h" }, strong); });
      } else if (RULE.test(line)) {
        i++;
        add(() => el("hr"));
      } else if (QUOTE.test(line) && depth < MOST_DEPTH) {
        const inner = [];
        while (i < lines.length && (match = QUOTE.exec(lines[i]))) { inner.push(match[1]); i++; }
        add((spans) => {
          const quote = el("blockquote");
          for (const block of blocks(inner.join("\n"), depth + 1)) quote.append(block.build(spans));
          return quote;
        });
      } else if (ITEM.test(line)) {
        i = list(lines, i, add, (to) => { i = to; });
      } else if (line.includes("|") && i + 1 < lines.length && lines[i + 1].includes("-") && DELIMITER.test(lines[i + 1])
          && cells(line).length === cells(lines[i + 1]).length && cells(line).length <= MOST_COLUMNS) {
        const rows = [cells(line)];
        for (i += 2; i < lines.length && lines[i].includes("|") && lines[i].trim(); i++) rows.push(cells(lines[i]));
        add((spans) => table(rows, spans));
      } else {
        const words = [line.trim()];
        for (i++; i < lines.length && !interrupts(lines[i]); i++) words.push(lines[i].trim());
        add((spans) => { const p = el("p"); spans(p, words.join("\n")); return p; });
      }
    }
    return found;
  }

  function table(rows, spans) {
    const row = (tag, values) => {
      const line = el("tr");
      for (const value of values.slice(0, rows[0].length)) {
        const cell = el(tag, tag === "th" ? { scope: "col" } : {});
        spans(cell, value);
        line.append(cell);
      }
      return line;
    };
    const body = el("tbody");
    for (const values of rows.slice(1)) body.append(row("td", values));
    return el("div", { class: "t", tabindex: "0", role: "group", "aria-label": T.table },
      el("table", {}, el("thead", {}, row("th", rows[0])), body));
  }

  /** One list with the lists inside it, from line `i` on; returns the line after it. */
  function list(lines, i, add, moveTo) {
    const items = [], ordered = (mark) => mark.length > 1, first = ITEM.exec(lines[i])[2];
    for (; i < lines.length; i++) {
      const line = lines[i], item = RULE.test(line) ? null : ITEM.exec(line);
      const last = items[items.length - 1];
      const indent = /^[ \t]*/.exec(line)[0].replace(/\t/g, "    ").length;
      if (item) {
        // Another kind of list at the outermost level is a list of its own.
        if (last && indent < items[0].indent + 2 && ordered(item[2]) !== ordered(first)) break;
        items.push({ indent, mark: item[2], text: [item[3] || ""] });
      } else if (!line.trim()) {
        let next = i + 1;
        while (next < lines.length && !lines[next].trim()) next++;
        if (next === lines.length || !(ITEM.test(lines[next]) && !RULE.test(lines[next]) || /^(?: {2}|\t)/.test(lines[next]))
            || FENCE.test(lines[next])) break;
        i = next - 1;
      } else if (FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line)) break;
      else last.text.push(line.trim());
    }
    moveTo(i);
    add((spans) => {
      const open = [];
      let outer = null;
      for (const { indent, mark, text: words } of items) {
        while (open.length > 1 && indent < open[open.length - 1].indent) open.pop();
        let top = open[open.length - 1];
        const deeper = top && indent >= top.indent + 2 && open.length < MOST_DEPTH;
        if (!top || deeper || ordered(mark) !== top.ordered) {
          const node = el(ordered(mark) ? "ol" : "ul", ordered(mark) && !/^1\D/.test(mark) ? { start: parseInt(mark, 10) } : {});
          const parent = !top ? null : deeper ? top.item : open.length > 1 ? open[open.length - 2].item : null;
          if (!outer) outer = node;
          else (parent || outer.lastChild).append(node);
          if (top && !deeper) open.pop();
          open.push((top = { indent, ordered: ordered(mark), node, item: null }));
        }
        top.item = el("li");
        spans(top.item, words.join("\n"));
        top.node.append(top.item);
      }
      return outer;
    });
    return i;
  }

  // Every part is bounded by the next bracket, blank or quote, so that no text makes it search twice.
  const TARGET = "\\( {0,3}<?([^\\s<>()[\\]]*(?:\\([^\\s<>()[\\]]*\\)[^\\s<>()[\\]]*)*)>?(?: {1,3}(?:\"[^\"[\\]\\n]*\"|'[^'[\\]\\n]*'))? {0,3}\\)";
  const SPAN = new RegExp("\\\\([!-/:-@[-`{-~])|(`+)|(\\*{1,3}|_{1,3}|~~)"
    + `|(!?)\\[([^[\\]]*)\\]${TARGET}|\\[(\\d{1,2}(?: ?, ?\\d{1,2})*)\\]`
    + "|<?(https?:\\/\\/[^\\s<>\"`\\\\^{|}[\\]]+)>?|\\n", "g");
  const TAGS = { "**": "strong", __: "strong", "*": "em", _: "em", "~~": "del" };
  const isWord = (char) => Boolean(char) && /[\p{L}\p{N}]/u.test(char);

  /** Append `source` to `parent` as text, emphasis, code and links. `live`: more may come, so what is open
   *  at the end stays open instead of showing its marks. */
  function spans(parent, source, live, cite, inLink) {
    const open = [], noCloser = new Set();
    let at = parent, from = 0, match;
    const say = (value) => { if (value) at.append(value); };
    const unwrap = ({ node, mark }) => {
      node.before(mark);
      while (node.firstChild) node.before(node.firstChild);
      node.remove();
    };
    const mark = (sign, before, after) => {
      const closes = before && !/\s/.test(before) && !(sign[0] === "_" && isWord(after));
      const place = open.findIndex((other) => other.mark === sign);
      if (closes && place >= 0) {
        for (const other of open.splice(place + 1).reverse()) unwrap(other);
        at = open.pop().node.parentNode;
      } else if (place < 0 && after && !/\s/.test(after) && !(sign[0] === "_" && isWord(before))
          && !(sign === "*" && /\d/.test(before || "") && /\d/.test(after))) {
        const node = el(TAGS[sign]);
        at.append(node);
        open.push({ node, mark: sign });
        at = node;
      } else say(sign);
    };
    const scan = new RegExp(SPAN);
    while ((match = scan.exec(source))) {
      const [whole, escaped, ticks, sign, bang, label, target, numbers, bare] = match;
      say(source.slice(from, match.index));
      from = scan.lastIndex;
      const before = source[match.index - 1], after = source[from];
      if (escaped) say(escaped);
      else if (ticks) {
        let end = noCloser.has(ticks.length) ? -1 : source.indexOf(ticks, from);
        while (end >= 0 && source[end + ticks.length] === "`") {
          while (source[end] === "`") end++;
          end = source.indexOf(ticks, end);
        }
        if (end < 0) noCloser.add(ticks.length);
        if (end < 0 && !live) say(ticks);
        else {
          const stop = end < 0 ? source.length : end;
          at.append(el("code", {}, source.slice(from, stop).replace(/^ (.*\S.*) $/, "$1")));
          from = scan.lastIndex = Math.min(source.length, end < 0 ? stop : stop + ticks.length);
        }
      } else if (sign) {
        const both = sign.length === 3;
        const last = open[open.length - 1], one = sign[0], two = one + one;
        if (!both) mark(sign, before, after);
        else for (const part of last && last.mark === one ? [one, two] : [two, one]) mark(part, before, after);
      } else if (label !== undefined) {
        const url = !bang && !inLink && target ? safeUrl(target) : null;
        if (bang) say(label ? `[${T.image}: ${label}]` : "");
        else if (url) {
          const anchor = link(url, {});
          spans(anchor, label, false, null, true);
          at.append(anchor);
        } else spans(at, label, false, null, true);
      } else if (numbers) {
        if (!cite || !cite(at, numbers)) say(whole);
      } else if (bare) {
        let end = bare.length;
        while (/[.,;:!?)*_'~]/.test(bare[end - 1]) && !(bare[end - 1] === ")" && bare.lastIndexOf("(", end) > 0)) end--;
        const url = inLink ? null : safeUrl(bare.slice(0, end));
        if (url && end > 8) {
          at.append(link(url, {}, bare.slice(0, end)));
          from = scan.lastIndex = match.index + (whole[0] === "<" ? 1 : 0) + end;
          if (whole[0] === "<" && source[from] === ">") from = ++scan.lastIndex;
        } else say(whole);
      } else at.append(el("br"));
    }
    say(source.slice(from));
    if (!live) for (const other of open.reverse()) unwrap(other);
  }

  /** Text that grows. Blocks that can't change any more stay as they are; the last two are built anew. */
  class Markdown {
    constructor(root, cite) {
      this.root = root;
      this.cite = cite;
      this.all = this.rest = this.held = "";
      this.tail = [];
    }
    push(piece) {
      // A pair of surrogates may be cut between two pieces.
      const joined = this.held + text(piece), last = joined.charCodeAt(joined.length - 1);
      this.held = last >= 0xd800 && last < 0xdc00 ? joined.slice(-1) : "";
      const added = clean(this.held ? joined.slice(0, -1) : joined);
      this.all += added;
      this.rest += added;
    }
    draw(final) {
      for (const node of this.tail) node.remove();
      this.tail = [];
      const found = blocks(this.rest, 0), sure = final ? found.length : found.length - 2;
      found.forEach((block, place) => {
        const live = place >= sure;
        const node = block.build((parent, source) => spans(parent, source, live, this.cite));
        this.root.append(node);
        if (live) this.tail.push(node);
      });
      if (sure > 0) this.rest = this.rest.slice(found[sure - 1].end);
    }
    again(final) {
      this.root.replaceChildren();
      this.rest = this.all;
      this.tail = [];
      this.draw(final);
    }
  }

  // ---- the stream: server-sent events over fetch, framed on bytes -----------------------------------

  async function* events(body, heard) {
    const reader = body.getReader(), decoder = new TextDecoder();
    let rest = "", data = [], skipNewline = false;
    for (;;) {
      const { value, done } = await reader.read();
      heard();
      let piece = done ? decoder.decode() : decoder.decode(value, { stream: true });
      if (skipNewline && piece) {
        if (piece[0] === "\n") piece = piece.slice(1);
        skipNewline = false;
      }
      if (piece.endsWith("\r")) skipNewline = true;
      const lines = piece.split(/\r\n|\n|\r/); // never at U+2028 or U+0085: those are text
      lines[0] = rest + lines[0];
      rest = lines.pop();
      for (const line of lines) {
        if (line) {
          if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
        } else if (data.length) {
          const event = JSON.parse(data.join("\n"));
          data = [];
          if (event && typeof event === "object") yield event;
        }
      }
      if (done) return;
    }
  }

  class Failure extends Error {
    constructor(said, retry, after) { super(said); this.retry = retry; this.after = after; }
  }
  function failureOf(code, message, retry, after, limit) {
    const known = { "rate-limited": [T.limited, true], busy: [T.busy, true], "question-too-long": [T.long(limit), false],
      "origin-not-allowed": [T.origin, false] }[code];
    if (known) return new Failure(known[0], known[1], after);
    return new Failure(/^(?:model-|restarting|internal)/.test(code) || !message ? T.down2 : message, retry, after);
  }
  async function refusal(reply) {
    let problem = {};
    try { problem = await reply.json() || {}; } catch { /* a proxy's page */ }
    const after = Math.min(3600, Number(reply.headers.get("Retry-After")) || 0);
    const code = text(problem.code) || (reply.status === 429 ? "rate-limited" : "");
    return failureOf(code, "", reply.status === 429 || reply.status >= 500, after, Number(problem.limit) || 0);
  }

  // ---- what is kept on the device -------------------------------------------------------------------

  const persists = options.history !== "off";
  let turns = [], conversation = null;
  const passagesOf = (given) => (Array.isArray(given) ? given : []).slice(0, 20)
    .filter((p) => p && typeof p === "object" && Number.isInteger(p.n))
    .map((p) => ({ n: p.n, title: clean(p.title), section: clean(p.section), url: text(p.url),
      lang: p.lang === "es" || p.lang === "en" ? p.lang : "", quote: clean(p.quote) }));

  const idOf = (value) => /^[\w-]{22,43}$/.test(text(value)) ? value : null; // another form would be refused for ever

  function remember() {
    if (!persists) return;
    try {
      localStorage.setItem(STORE, JSON.stringify({ at: Date.now(), turns: turns.slice(-KEEP_TURNS) }));
      if (conversation) sessionStorage.setItem(STORE, conversation);
    } catch { /* no storage here: the conversation lives as long as the page */ }
  }
  function recall() {
    if (!persists) return;
    try {
      const kept = JSON.parse(localStorage.getItem(STORE));
      conversation = idOf(sessionStorage.getItem(STORE));
      if (!kept || Date.now() - kept.at > KEEP_MS) localStorage.removeItem(STORE);
      else turns = kept.turns.filter((t) => t && typeof t.q === "string" && typeof t.a === "string")
        .map((t) => ({ q: t.q, a: t.a, s: passagesOf(t.s), r: text(t.r), cut: t.cut ? text(t.cut) : "" }));
    } catch { /* broken or forbidden: begin anew */ }
  }
  function erase() {
    turns = [];
    conversation = null;
    try { localStorage.removeItem(STORE); sessionStorage.removeItem(STORE); } catch { /* nothing was kept */ }
  }

  /** Body of a question: the last whole turns that fit; an answer that broke off is none. */
  function bodyFor(question) {
    let past = turns.filter((turn) => turn.a && !turn.cut).slice(-SENT_TURNS);
    for (;;) {
      const messages = past.flatMap((turn) => [{ role: "user", content: turn.q }, { role: "assistant", content: turn.a }]);
      const body = { messages: [...messages, { role: "user", content: question }], stream: true };
      if (conversation) body.conversation_id = conversation;
      const json = JSON.stringify(body);
      if (!past.length || new TextEncoder().encode(json).length <= MOST_BODY_BYTES) return json;
      past = past.slice(1);
    }
  }

  // ---- the surface ----------------------------------------------------------------------------------

  const host = el("div", { class: "rony-chat-widget-root", hidden: true });
  const shadow = host.attachShadow({ mode: "open" });
  const button = (name, label, click, attributes) =>
    el("button", { type: "button", class: "i", "aria-label": label, title: label, click, ...attributes }, icon(name));

  const launcher = el("button", { type: "button", class: "launcher", "aria-haspopup": "dialog", "aria-expanded": "false",
    click: () => open() }, icon("chat"), el("span", {}, options.label || T.launch));
  const title = el("h2", { id: "title" }, options.title || T.title());
  const forgetButton = button("forget", T.forget, forget, { hidden: true });
  const greeting = el("p", { class: "hi" }, options.greeting || T.greet());
  const entries = el("div", { class: "entries" });
  const chips = el("div", { class: "chips", role: "group", "aria-label": T.suggested });
  const log = el("div", { class: "log", role: "log", "aria-live": "off", "aria-label": T.log, tabindex: "0" },
    greeting, entries, chips);
  const moreButton = el("button", { type: "button", class: "more", hidden: true, click: () => {
    follow = true;
    log.focus({ preventScroll: true });
    toEnd();
  } },
    icon("down"), T.more);
  const status = el("p", { class: "sr", role: "status" });
  const box = el("textarea", { rows: "1", maxlength: "1000", "aria-label": T.ask, placeholder: T.ask, autocomplete: "off",
    enterkeyhint: "send" });
  const sendButton = el("button", { type: "submit", class: "i send", "aria-label": T.send, title: T.send });
  const sendIcon = icon("send"), stopIcon = icon("stop");
  sendButton.append(sendIcon);
  const form = el("form", {}, el("div", { class: "row" }, box, sendButton), el("p", { class: "ai" }, T.notice));
  const header = el("header", {}, title, forgetButton, button("close", T.close, () => close()));
  const panel = el("section", { class: "panel", role: "dialog", "aria-labelledby": "title", tabindex: "-1", hidden: true },
    header, el("div", { class: "middle" }, log, moreButton), form, status);
  const frame = el("div", { class: "frame", lang: LANG }, launcher, panel);
  frame.dataset.position = /left/.test(options.position || "") ? "left" : "right";

  const emit = (name, detail) => host.dispatchEvent(
    new CustomEvent(`rony-chat:${name}`, { bubbles: true, composed: true, cancelable: true, detail }));
  const announce = (said) => { status.textContent = said; };

  // Following the end, unless the visitor reads further up.
  let follow = true, scrolledTo = 0;
  log.addEventListener("scroll", () => {
    scrolledTo = log.scrollTop;
    follow = log.scrollHeight - log.scrollTop - log.clientHeight < NEAR_END_PX;
    if (follow) moreButton.hidden = true;
  }, { passive: true });
  function toEnd() {
    if (follow) { log.scrollTop = log.scrollHeight; moreButton.hidden = true; }
    else moreButton.hidden = log.scrollHeight - log.scrollTop - log.clientHeight < NEAR_END_PX;
  }

  // ---- one turn -------------------------------------------------------------------------------------

  /** The nodes of a question and its answer, and what can happen to them. */
  function show(turn) {
    const state = el("p", { class: "state" }), bar = el("progress", { hidden: true, "aria-label": T.readingBar, max: "100" });
    const heading = el("h3", {}), cards = el("ol", { class: "cards" });
    const sources = el("div", { class: "sources", hidden: true }, heading, cards);
    const words = el("div", { class: "md" }), tools = el("div", { class: "tools" });
    const reply = el("article", { class: "bot", "aria-label": T.bot }, sources, state, bar, words, tools);
    const whole = el("div", { class: "turn" },
      el("article", { class: "me", "aria-label": T.you }, el("p", {}, clean(turn.q))), reply);
    entries.append(whole);
    let passages = [];

    const go = (event, passage) => {
      const { n, title: name, section, lang, quote } = passage;
      if (!emit("source", { n, title: name, section, lang, quote, url: passage.url })) event.preventDefault();
      else if (modal() && event.currentTarget.href.split("#")[0] === location.href.split("#")[0]) close();
    };
    const name = (p) => [p.title, p.section].filter(Boolean).join(" — ");
    const cite = (parent, numbers) => {
      const cited = numbers.split(",").map((n) => passages.find((p) => p.n === Number(n)));
      if (cited.includes(undefined)) return false;
      for (const p of cited) {
        const url = passageUrl(p), label = `${T.source} ${p.n}: ${name(p)}`;
        parent.append(url
          ? link(url, { class: "cite", "aria-label": label, title: name(p), click: (event) => go(event, p) }, String(p.n))
          : el("span", { class: "cite", title: name(p) }, String(p.n)));
      }
      return true;
    };
    const markdown = new Markdown(words, cite);

    return {
      turn, markdown, whole,
      say(said) { state.textContent = said; state.hidden = !said; if (said) toEnd(); },
      progress(done, total) {
        bar.hidden = !(total > 0);
        if (total > 0) {
          const percent = Math.max(0, Math.min(100, Math.floor((100 * done) / total)));
          bar.value = percent;
          this.say(T.reading(percent));
        }
      },
      sources(given, final) {
        passages = turn.s = passagesOf(given);
        sources.hidden = !passages.length;
        this.headed();
        const spoken = languageOf(turn.q) || LANG;
        cards.replaceChildren(...passages.map((p) => {
          const url = passageUrl(p), label = [el("b", {}, `${p.n} `), p.title, p.section ? el("i", {}, p.section) : ""];
          return el("li", {},
            url ? link(url, { click: (event) => go(event, p), lang: p.lang || null }, ...label) : el("span", {}, ...label),
            p.lang && p.lang !== spoken ? el("small", {}, T.inLang[p.lang]) : "",
            p.quote ? el("q", { lang: p.lang || null }, p.quote) : "");
        }));
        if (markdown.all) markdown.again(final);
        toEnd();
      },
      headed() { heading.textContent = turn.r === "refusal" ? T.near : T.sources; },
      quiet() { this.say(""); bar.hidden = true; },
      finish(first) {
        markdown.push(markdown.held ? "\ufffd" : "");
        markdown.draw(true);
        turn.a = markdown.all;
        this.headed();
        this.tools(first);
      },
      /** Copy, and thumbs for a fresh answer. */
      tools(fresh) {
        tools.replaceChildren();
        if (!turn.a) return;
        if (navigator.clipboard) {
          const copy = button("copy", T.copy, async () => {
            const list = passages.map((p) => `[${p.n}] ${name(p)}${passageUrl(p) ? ` ${safeUrl(p.url).href}` : ""}`);
            try {
              await navigator.clipboard.writeText([turn.a, list.join("\n")].filter(Boolean).join("\n\n"));
              announce(T.copied);
              copy.classList.add("on");
              setTimeout(() => copy.classList.remove("on"), 1500);
            } catch { /* the browser said no */ }
          });
          tools.append(copy);
        }
        if (fresh && turn.id && info && info.feedback === true) thumbs(tools, turn);
      },
      /** The text stays, with what happened to it and a way on. */
      failed(said, label, retry, after) {
        this.quiet();
        const line = el("p", { class: "fail" }, said);
        if (retry) {
          const words = el("span", {}, label);
          const again = el("button", { type: "button", class: "again", click: () => {
            if (run) return;
            whole.remove();
            log.focus({ preventScroll: true });
            ask(turn.q);
          } },
            icon("again"), words);
          let left = Math.ceil(after || 0);
          const tick = () => {
            again.disabled = left > 0;
            words.textContent = left > 0 ? `${label} ${T.inSeconds(left)}` : label;
            if (left-- > 0 && !destroyed) setTimeout(tick, 1000);
          };
          tick();
          line.append(" ", again);
        }
        reply.insertBefore(line, tools);
        toEnd();
      },
    };
  }

  function thumbs(tools, turn) {
    const send = (rating, reason) => {
      const body = { conversation_id: conversation, answer_id: turn.id, rating, reason };
      fetch(API.feedback, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) })
        .catch(() => {});
      group.replaceChildren(el("span", {}, T.thanks));
      announce(T.thanks);
      log.focus({ preventScroll: true });
    };
    const group = el("span", { class: "thumbs" }, button("up", T.up, () => send("up")), button("no", T.down, () => {
      const choices = T.reasons.map((said, place) =>
        el("button", { type: "button", class: "chip", click: () => send("down", REASONS[place]) }, said));
      group.replaceChildren(el("span", {}, T.why), ...choices);
      choices[0].focus();
      toEnd();
    }));
    tools.append(group);
  }

  // ---- asking ---------------------------------------------------------------------------------------

  let run = null, info = null, asked = false, destroyed = false;

  function busy(on) {
    sendButton.replaceChildren(on ? stopIcon : sendIcon);
    sendButton.setAttribute("aria-label", on ? T.stop : T.send);
    sendButton.title = on ? T.stop : T.send;
    chips.hidden = on;
    forgetButton.hidden = on || !turns.length;
  }

  async function ask(given) {
    const question = clean(given).trim();
    if (!question || run || destroyed) return;
    start();
    const control = new AbortController(), began = performance.now();
    const turn = { q: question, a: "", s: [], r: "", cut: "" }, view = show(turn);
    run = { control, began };
    follow = true;
    greeting.hidden = true;
    busy(true);
    view.say(T.searching);
    announce(T.searching);
    toEnd();
    // Text is drawn once a frame; a long block that takes long to draw is drawn less often.
    let frameAsked = false, restUntil = 0;
    const draw = () => {
      frameAsked = false;
      if (turn.over) return;
      const before = performance.now();
      if (before < restUntil) return schedule();
      view.markdown.draw(false);
      restUntil = performance.now() + 4 * Math.max(0, performance.now() - before - 4);
      toEnd();
    };
    const schedule = () => { if (!frameAsked) { frameAsked = true; requestAnimationFrame(draw); } };
    let failure = null, silent = false, watch;
    // A comment comes every 10 s: without a byte for so long nobody is there any more.
    const heard = () => {
      clearTimeout(watch);
      watch = setTimeout(() => { silent = true; control.abort(); }, 45000);
    };
    try {
      heard();
      const response = await fetch(API.chat, { method: "POST", signal: control.signal, cache: "no-store",
        headers: { "Content-Type": "application/json", Accept: "text/event-stream", "Accept-Language": LANG },
        body: bodyFor(question) });
      if (!response.ok) throw await refusal(response);
      let good = false;
      for await (const event of events(response.body, heard)) {
        if (event.type === "start") conversation = idOf(event.conversation_id) || conversation;
        else if (event.type === "queued") view.say(T.queued(event.position, Math.ceil(event.eta_seconds || 0)));
        else if (event.type === "compaction") {
          entries.insertBefore(el("p", { class: "note" }, T.folded(Number(event.older_turns) || 0)), view.whole);
        } else if (event.type === "sources") {
          view.sources(event.passages, false);
          if (!turn.a && !view.markdown.all) view.say(T.thinking);
        } else if (event.type === "progress") {
          if (!view.markdown.all) view.progress(Number(event.processed), Number(event.total));
        } else if (event.type === "chunk") {
          if (!view.markdown.all) view.quiet();
          view.markdown.push(event.content);
          schedule();
        } else if (event.type === "error") {
          throw failureOf(text(event.code), clean(event.message), event.retryable === true, 0, 0);
        } else if (event.type === "done") {
          turn.r = text(event.route);
          turn.id = text(event.answer_id);
          good = true;
          break;
        }
      }
      if (!good) throw new Failure(T.cut, true);
    } catch (problem) {
      failure = control.signal.aborted && !silent ? new Failure(T.stopped, true)
        : problem instanceof Failure ? problem
          : new Failure(conversation && view.markdown.all ? T.cut : T.offline, true);
    }
    clearTimeout(watch);
    control.abort(); // nothing after the last event is wanted
    turn.over = true;
    run = null;
    if (destroyed) return;
    view.quiet();
    turn.cut = failure ? failure.message : "";
    view.finish(!failure);
    delete turn.over;
    if (failure) {
      const said = turn.a && failure.message !== T.stopped && failure.message !== T.cut ? `${T.cut} ${failure.message}` : failure.message;
      view.failed(said, failure.message === T.stopped ? T.again : T.retry, failure.retry, failure.after);
      announce(said);
    } else announce(view.markdown.root.textContent);
    if (turn.a) { turns.push(turn); remember(); }
    busy(false);
    chips.hidden = !(turns.length === 0 || ["refusal", "greeting", "identity", "thanks"].includes(turn.r));
    if (panel.hidden) launcher.classList.add("new");
    toEnd();
    emit(failure ? "error" : "answer", { route: turn.r, sources: turn.s.length, milliseconds: Math.round(performance.now() - began) });
  }

  function suggest(questions) {
    chips.replaceChildren(...questions.filter((q) => typeof q === "string" && q.trim()).slice(0, 6).map((q) =>
      el("button", { type: "button", class: "chip", click: () => { ask(q); log.focus({ preventScroll: true }); } }, clean(q))));
  }

  /** Before the first look inside nothing is read, stored or asked. */
  function start() {
    if (asked) return;
    asked = true;
    recall();
    for (const turn of turns) {
      const view = show(turn);
      view.sources(turn.s);
      view.quiet();
      view.markdown.push(turn.a);
      view.finish(false);
      if (turn.cut) view.failed(turn.cut, T.again, true);
    }
    greeting.hidden = chips.hidden = turns.length > 0;
    forgetButton.hidden = !turns.length;
    let own = null;
    try { own = options.suggestions ? JSON.parse(options.suggestions) : null; } catch { own = options.suggestions.split("|"); }
    if (Array.isArray(own)) suggest(own);
    fetch(API.info).catch((problem) => {
      // A browser does not say which it was: a refused origin looks like a server that is down.
      if (!API.info.startsWith(`${location.origin}/`)) {
        console.error(`chat-widget: ${API.info} can't be read. If it runs, add ${location.origin} to its server.cors_origins.`);
      }
      throw problem;
    }).then((reply) => reply.ok ? reply.json() : null).then((found) => {
      if (!found || destroyed) return;
      info = found;
      const topics = found.topics && Array.isArray(found.topics[LANG]) ? found.topics[LANG].map(clean).join(", ") : "";
      if (!options.title && found.name) title.textContent = T.title(clean(found.name));
      if (!options.greeting && topics) greeting.textContent = T.greet(topics);
      if (!Array.isArray(own) && found.suggested_questions) suggest(found.suggested_questions[LANG] || []);
      toEnd();
    }).catch(() => {});
  }

  function forget() {
    erase();
    entries.replaceChildren();
    greeting.hidden = chips.hidden = false;
    busy(false);
    announce(T.forgotten);
    log.focus({ preventScroll: true });
    emit("forget", {});
  }

  // ---- opening and closing --------------------------------------------------------------------------

  const small = matchMedia("(max-width: 480px), (max-height: 480px)");
  const coarse = matchMedia("(pointer: coarse)");
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const modal = () => !panel.hidden && small.matches;
  let opener = null, pageOverflow = null;

  function open() {
    if (destroyed || !panel.hidden) return;
    opener = document.activeElement === host ? null : document.activeElement;
    attach();
    panel.hidden = false;
    launcher.hidden = true;
    launcher.setAttribute("aria-expanded", "true");
    launcher.classList.remove("new");
    start();
    fit();
    if (!calm.matches) panel.animate([{ opacity: 0, transform: "translateY(12px)" }, { opacity: 1, transform: "none" }], 160);
    // On a touch screen the keyboard would cover what there is to read.
    (coarse.matches ? panel : box).focus({ preventScroll: true });
    follow = true;
    toEnd();
    emit("open", {});
  }

  function close() {
    if (panel.hidden) return;
    const back = opener && opener !== document.body && opener.isConnected ? opener : launcher;
    panel.hidden = true;
    launcher.hidden = false;
    launcher.setAttribute("aria-expanded", "false");
    fit();
    back.focus({ preventScroll: true });
    emit("close", {});
  }

  /** On small screens: all of what the keyboard leaves, and the page behind stands still. */
  function fit() {
    const view = window.visualViewport, full = modal(), root = document.documentElement;
    panel.setAttribute("aria-modal", String(full));
    if (full && view) {
      panel.style.setProperty("--h", `${view.height}px`);
      panel.style.setProperty("--y", `${view.offsetTop}px`);
    }
    if (full && pageOverflow === null) {
      pageOverflow = root.style.overflow;
      root.style.overflow = "hidden";
    } else if (!full && pageOverflow !== null) {
      root.style.overflow = pageOverflow;
      pageOverflow = null;
    }
    if (!panel.hidden) toEnd();
  }

  panel.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.isComposing) {
      event.stopPropagation();
      close();
    } else if (event.key === "Tab" && modal()) {
      const stops = [...panel.querySelectorAll("a[href], button:not(:disabled), textarea, [tabindex='0']")]
        .filter((node) => node.getClientRects().length);
      const edge = event.shiftKey ? stops[0] : stops[stops.length - 1];
      if (shadow.activeElement === edge || (event.shiftKey && shadow.activeElement === panel)) {
        event.preventDefault();
        (event.shiftKey ? stops[stops.length - 1] : stops[0]).focus();
      }
    }
  });

  let touchedAt = null;
  header.addEventListener("touchstart", (event) => { touchedAt = event.touches[0].clientY; }, { passive: true });
  header.addEventListener("touchend", (event) => {
    if (modal() && touchedAt !== null && event.changedTouches[0].clientY - touchedAt > 80) close();
    touchedAt = null;
  }, { passive: true });

  const grow = () => {
    box.style.setProperty("height", "auto");
    box.style.setProperty("height", `${Math.min(box.scrollHeight, 140)}px`);
  };
  box.addEventListener("input", grow);
  box.addEventListener("keydown", (event) => {
    // Safari ends a composition before its Enter: only the key code still tells.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    if (!run) submit();
  });
  function submit() {
    const question = box.value;
    if (!question.trim()) return;
    box.value = "";
    grow();
    ask(question);
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!run) submit();
    else if (performance.now() - run.began > 350) run.control.abort(); // not the second half of a double click
  });

  // ---- being on the page ----------------------------------------------------------------------------

  /** light or dark: as told, as the page says, as the system says. */
  function theme() {
    let chosen = /^(?:light|dark)$/.test(options.theme || "") ? options.theme : null;
    for (const node of chosen ? [] : [document.documentElement, document.body]) {
      if (!node || chosen) continue;
      const said = [node.dataset.theme, node.dataset.colorScheme, node.dataset.mode].join(" ");
      const found = /\b(?:dark|light)\b/.exec(said) || /(?:^|\s)(?:dark|light)(?=\s|$)/.exec(node.getAttribute("class") || "")
        || /^(?:dark|light)$/.exec(getComputedStyle(node).colorScheme);
      if (found) chosen = found[0].trim();
    }
    frame.dataset.theme = chosen || (dark.matches ? "dark" : "light");
  }

  const watcher = new MutationObserver((changes) => {
    attach();
    if (changes.some((change) => change.type === "attributes")) theme();
  });
  let attached = [];
  /** On the page, and again after a client-side navigation has replaced its body. */
  function attach() {
    if (destroyed || host.isConnected || !document.body) return;
    attached = attached.filter((time) => performance.now() - time < 10000);
    if (attached.length > 20) return; // the page insists on removing it
    attached.push(performance.now());
    document.body.append(host);
    watcher.disconnect();
    const watched = { childList: true, attributes: true, attributeFilter: ["class", "style", "data-theme", "data-color-scheme", "data-mode"] };
    watcher.observe(document.documentElement, watched);
    watcher.observe(document.body, watched);
    theme();
    log.scrollTop = scrolledTo;
    if (modal()) { fit(); panel.focus({ preventScroll: true }); }
  }

  const sheet = el("link", { rel: "stylesheet", href: CSS_URL });
  sheet.addEventListener("load", () => {
    // An adopted sheet survives being moved; a <link> is loaded again. Rules of another origin can't be read.
    try {
      const adopted = new CSSStyleSheet();
      adopted.replaceSync([...sheet.sheet.cssRules].map((rule) => rule.cssText).join("\n"));
      shadow.adoptedStyleSheets = [adopted];
      sheet.remove();
    } catch { /* the <link> stays */ }
    host.hidden = false;
  });
  sheet.addEventListener("error", () => console.error(`chat-widget: ${CSS_URL} could not be loaded (style-src?)`));
  shadow.append(sheet, frame);

  const listeners = [];
  const on = (target, name, work) => {
    if (!target) return;
    target.addEventListener(name, work);
    listeners.push(() => target.removeEventListener(name, work));
  };
  on(document, "astro:after-swap", attach);
  on(document, "DOMContentLoaded", attach);
  on(dark, "change", theme);
  on(small, "change", fit);
  on(window.visualViewport, "resize", fit);
  on(window.visualViewport, "scroll", fit);
  on(window, "storage", (event) => { // forgotten in another tab
    if ((event.key === STORE && event.newValue === null || event.key === null) && asked && !run) forget();
  });

  window.RonyChat = Object.freeze({
    open, close,
    ask(question) { open(); return ask(question); },
    destroy() {
      close();
      destroyed = true;
      if (run) run.control.abort();
      watcher.disconnect();
      for (const stop of listeners) stop();
      host.remove();
      delete window.RonyChat;
    },
  });
  attach();
})();
