"""What a hostile model, visitor or page writes stays text: nothing runs or is fetched (X1-X9, WID-01)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.widget.driver import Chat
from tests.widget.stage import START, chunks, done, event, passage

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

    from tests.widget.stage import Stage

pytestmark = pytest.mark.browser

PAYLOADS: list[str] = [
    json.loads(line)
    for line in (Path(__file__).parent / "payloads.txt").read_text("utf-8").splitlines()
    if line.startswith('"')
]
INSPECT = """() => {
  const root = document.querySelector('.rony-chat-widget-root').shadowRoot, bad = [];
  const allowed = new Set(('DIV SECTION HEADER H2 H3 P BUTTON SPAN FORM TEXTAREA ARTICLE OL UL LI A '
    + 'B I Q SMALL STRONG EM DEL CODE PRE BR HR BLOCKQUOTE TABLE THEAD TBODY TR TH TD PROGRESS svg '
    + 'path').split(' '));
  const loads = ['src', 'srcset', 'srcdoc', 'ping', 'background', 'action', 'formaction'];
  for (const node of root.querySelectorAll('*')) {
    if (!allowed.has(node.tagName)) bad.push(node.tagName);
    for (const { name, value } of node.attributes) {
      if (/^on/i.test(name) || loads.includes(name)) bad.push(`${name}=${value}`);
      if (name === 'style' && !/^(?:height|--[hy]):/.test(value)) bad.push(`style=${value}`);
    }
    if (node.tagName === 'A') {
      if (!/^(?:https?|mailto):$/.test(node.protocol)) bad.push(node.href);
      if (node.username) bad.push(node.href);
      if (node.rel !== 'noopener noreferrer nofollow') bad.push(`rel ${node.href}`);
    }
  }
  return bad;
}"""
# Answers a question in the page itself: thousands of streams without a socket each.
IN_PAGE = """([payloads, cut]) => (async () => {
  const bytes = new TextEncoder(), inspect = INSPECT, bad = [];
  const root = document.querySelector('.rony-chat-widget-root').shadowRoot;
  for (const payload of payloads) {
    const say = (type, fields) => bytes.encode(`data: ${JSON.stringify({ type, ...fields })}\\n\\n`);
    const hostile = { n: 1, title: payload, section: payload, url: payload, quote: payload,
      lang: 'en', kind: 'project' };
    const pieces = cut ? [...payload] : [payload];
    const parts = [say('start', { conversation_id: payload }),
      say('sources', { documents: [payload], passages: [hostile] }),
      ...pieces.map((content) => say('chunk', { content })), say('chunk', { content: ' [1]' }),
      say('done', { route: payload })];
    window.fetch = async () => ({ ok: true, body: new ReadableStream({ start(stream) {
      for (const part of parts) {
        if (cut) for (let i = 0; i < part.length; i++) stream.enqueue(part.slice(i, i + 1));
        else stream.enqueue(part);
      }
      stream.close();
    } }) });
    await window.RonyChat.ask(payload);
    const found = inspect();
    if (found.length) bad.push([payload, found]);
    if (root.querySelectorAll('.turn').length > 20) {
      root.querySelector('[aria-label="Forget this conversation"]').click();
    }
  }
  await new Promise((resolve) => setTimeout(resolve, 150));
  return bad;
})()""".replace("INSPECT", INSPECT)
# Frames come as soon as the text is there: every prefix is drawn.
AT_ONCE = "() => { window.requestAnimationFrame = (work) => { queueMicrotask(work); return 1; }; }"


def run(page: Page, payloads: list[str], *, cut: bool) -> None:
    """Play all payloads as question, answer, title, section, address and quote."""
    page.evaluate(AT_ONCE)
    assert page.evaluate(IN_PAGE, [payloads, cut]) == []


def test_there_are_enough_payloads() -> None:
    assert len(PAYLOADS) == len(set(PAYLOADS)) >= 200


@pytest.mark.parametrize("policy", ["strict", "none"])
def test_nothing_runs_and_nothing_is_fetched(page: Page, stage: Stage, policy: str) -> None:
    """Without a policy on the page too: it is the widget that is safe, not the page."""
    chat = Chat(page, stage)
    (chat.load() if policy == "strict" else chat.load(policy=None)).open()
    run(page, PAYLOADS, cut=False)
    assert page.url == stage.origin + "/"


def test_nor_while_it_streams_cut_at_every_byte(page: Page, stage: Stage) -> None:
    """X2, CVE-2026-32626: the streaming path is the same path."""
    chat = Chat(page, stage).load(policy=None).open()
    run(page, [p for p in PAYLOADS if len(p) < 90][::4], cut=True)
    assert chat.page.url == stage.origin + "/"


def test_nor_from_the_history(page: Page, stage: Stage) -> None:
    """What was stored is replayed after a reload, and is no more trusted than what came by wire."""
    chat = Chat(page, stage).load(policy=None)
    for start in range(0, len(PAYLOADS), 100):
        turns = [{"q": p, "a": p + " [1]", "s": [passage(title=p, section=p, url=p, quote=p)],
                  "r": p, "cut": p}
                 for p in PAYLOADS[start : start + 100]]  # fmt: skip
        page.evaluate("kept => localStorage.setItem(`rony-chat:${location.origin}/api/chat`, kept)",
                      json.dumps({"at": 9e15, "turns": turns}))  # fmt: skip
        page.reload()
        chat.open()
        page.locator(".turn").nth(len(turns) - 1).wait_for()
        assert page.evaluate(INSPECT) == []


def test_nor_from_info_or_errors(page: Page, stage: Stage) -> None:
    hostile = '"><img src=x onerror=window.__pwn++>'
    stage.info = {
        "name": hostile,
        "topics": {"en": [hostile]},
        "suggested_questions": {"en": [hostile, 3, None]},
    }
    chat = Chat(page, stage).load(policy=None).open()
    page.locator(".chips .chip").first.wait_for()
    stage.play(START, event("error", code=hostile, message=hostile, retryable=True))
    chat.asked()
    stage.refuse(400, hostile, detail=hostile, limit=hostile)
    chat.asked()
    assert page.evaluate(INSPECT) == []


@pytest.mark.parametrize(
    ("written", "href"),
    [
        ("[a](https://example.org/x)", "https://example.org/x"),
        ("[a](http://example.org)", "http://example.org/"),
        ("[a](mailto:hola@example.com)", "mailto:hola@example.com"),
        ("[a](/projects/x)", "HERE/projects/x"),
        ("[a](x#y)", "HERE/x#y"),
        ('[a](https://example.org/a_(b) "title")', "https://example.org/a_(b)"),
        ("see https://example.org/a_b_c.", "https://example.org/a_b_c"),
        ("<https://example.org/>", "https://example.org/"),
        ("[a](javascript:alert(1))", None),
        ("[a](JaVa\tScript:x)", None),
        ("[a](data:text/html,x)", None),
        ("[a](//evil.test)", None),
        ("[a](/\\evil.test)", None),
        ("[a](https:evil.test)", None),
        ("[a](https://good.test@evil.test)", None),
        ("[a](vbscript:x)", None),
        ("[a](tel:123)", None),
    ],
)
def test_links(page: Page, stage: Stage, written: str, href: str | None) -> None:
    chat = Chat(page, stage).load().open()
    stage.play(START, chunks(written), done())
    chat.asked()
    found = chat.text.locator("a").evaluate_all("links => links.map((link) => link.href)")
    assert found == ([href.replace("HERE", stage.origin)] if href else [])


def test_code_shows_the_characters(page: Page, stage: Stage) -> None:
    chat = Chat(page, stage).load().open()
    stage.play(
        START, chunks("`<b>&lt;</b>`\n\n```html\n<script>x</script> **y** [a](b)\n```"), done()
    )
    chat.asked()
    assert chat.text.locator("code").all_text_contents() == [
        "<b>&lt;</b>",
        "<script>x</script> **y** [a](b)",
    ]


def test_images_never_load(page: Page, stage: Stage) -> None:
    chat = Chat(page, stage).load(policy=None).open()
    stage.play(START, chunks("![the harbour](https://evil.test/a.png) and ![](/b.png)"), done())
    chat.asked()
    assert chat.text.inner_text() == "[image: the harbour] and"
    assert "/b.png" not in stage.paths


def test_a_hostile_page_does_not_break_it(page: Page, stage: Stage) -> None:
    """X7: clobbered globals, polluted prototypes, aggressive styles, three tags."""
    head = (
        '<link rel="stylesheet" href="/host.css"><script src="/host.js"></script>'
        '<script src="/chat-widget.js" defer></script><script src="/chat-widget.js" defer></script>'
    )
    body = (
        '<form id="RonyChat"><input name="destroy"></form><form id="chat"><input name="body"></form>'
        '<img name="currentScript"><a id="fetch"></a><div id="title">x</div><main>text</main>'
    )
    page.route("**/host.js", lambda route: route.fulfill(content_type="text/javascript", body=(
        "Object.prototype.polluted = 'x'; Object.prototype.href = 'javascript:window.__pwn++';"
        "Array.prototype.extra = () => 1; Object.prototype.feedback = false;")))  # fmt: skip
    page.route("**/host.css", lambda route: route.fulfill(content_type="text/css", body=(
        "* { color: red !important; font-size: 40px !important; display: block !important }"
        "div { position: static !important }"
        "button, textarea, p, a { background: lime !important; width: 3px !important }")))  # fmt: skip
    chat = Chat(page, stage).load(body=body, head=head)
    chat.launcher.wait_for()
    assert page.locator(".rony-chat-widget-root").count() == 1
    chat.open().asked()
    assert "Con Stripe" in chat.text.inner_text()
    style = chat.text.evaluate(
        "node => { const s = getComputedStyle(node); return [s.color, s.fontSize]; }"
    )
    assert style == ["rgb(27, 35, 40)", "15px"]
    assert len(stage.asked) == 1
    page.unroute("**/host.js")
    page.unroute("**/host.css")


def test_messages_of_foreign_frames_are_ignored(page: Page, stage: Stage) -> None:
    """X8."""
    chat = Chat(page, stage).load().open()
    page.evaluate(
        "for (const data of ['open', {type: 'ask', question: 'x'}, {type: 'rony-chat:ask'}])"
        " postMessage(data, '*')"
    )
    page.wait_for_timeout(50)
    assert stage.asked == []
    assert chat.text.count() == 0


def test_nothing_leaves_but_the_question(new_page: Callable[..., Page], stage: Stage) -> None:
    """P6: no cookie, no third party; what is stored is the conversation and its id."""
    page = new_page()
    Chat(page, stage).load().open().asked()
    assert page.context.cookies() == []
    kept: dict[str, Any] = page.evaluate("() => ({ ...localStorage, ...sessionStorage })")
    assert list(kept) == [f"rony-chat:{stage.origin}/api/chat"]
    assert page.evaluate("indexedDB.databases()") == []
    assert stage.cookies == []
