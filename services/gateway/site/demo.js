"use strict";
// The demo page around the widget: its language, what the bot knows, and the passages behind its links.

const LANGUAGE = (() => {
  const asked = new URLSearchParams(location.search).get("lang");
  const wanted = [asked, ...(navigator.languages || [])].map((tag) => String(tag || "").slice(0, 2).toLowerCase());
  return wanted.find((tag) => tag === "es" || tag === "en") || "en";
})();
document.documentElement.lang = LANGUAGE; // before the widget, which takes it from here
document.title = LANGUAGE === "es" ? "Estudio Marea: demo de portfolio-bot" : "Estudio Marea: demo of portfolio-bot";
const page = document.querySelector(`main[lang="${LANGUAGE}"]`);
for (const link of document.querySelectorAll("nav a")) {
  if (link.lang === LANGUAGE) link.setAttribute("aria-current", "true");
}

const ask = (question) => window.RonyChat && window.RonyChat.ask(question);
for (const button of document.querySelectorAll("[data-question]")) {
  button.addEventListener("click", () => ask(button.dataset.question));
}

async function introduce() {
  try {
    const info = await (await fetch("api/info")).json();
    page.querySelector(".topics").textContent = (info.topics[LANGUAGE] || []).join(", ");
    page.querySelector(".model").textContent = info.model;
    page.querySelector(".facts").hidden = false;
    const questions = info.suggested_questions[LANGUAGE] || [];
    page.querySelector(".know h3").hidden = !questions.length;
    for (const question of questions) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = question;
      button.addEventListener("click", () => ask(question));
      page.querySelector(".questions").append(button);
    }
  } catch {
    page.querySelector(".down").hidden = false;
  }
}

// The pages that the bot cites belong to the owner's site. Here a link shows the passage instead.
const dialog = document.getElementById("passage");
const WORDS = LANGUAGE === "es"
  ? { kind: "Así llega al pasaje en tu web", where: (to) => `En tu web, el enlace abre ${to} en ese párrafo.`, close: "Cerrar" }
  : { kind: "How a source opens on your site", where: (to) => `On your site the link opens ${to} at this paragraph.`, close: "Close" };
document.addEventListener("rony-chat:source", (event) => {
  const source = event.detail;
  if (new URL(source.url, location.href).origin !== location.origin) return;
  event.preventDefault();
  dialog.querySelector(".kind").textContent = WORDS.kind;
  dialog.querySelector("h2").textContent = [source.title, source.section].filter(Boolean).join(" — ");
  dialog.querySelector("blockquote").textContent = source.quote;
  dialog.querySelector("blockquote").lang = source.lang;
  dialog.querySelector(".where").textContent = WORDS.where(source.url);
  dialog.querySelector("button").textContent = WORDS.close;
  dialog.showModal();
});
dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());

introduce();
