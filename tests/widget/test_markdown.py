"""Markdown as nodes: what it looks like, at every prefix, and what it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.widget.driver import Chat
from tests.widget.test_safety import AT_ONCE

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.widget.stage import Stage

pytestmark = pytest.mark.browser

FEED = """([pieces, cited]) => (async () => {
  const bytes = new TextEncoder();
  const say = (type, fields) => bytes.encode(`data: ${JSON.stringify({ type, ...fields })}\\n\\n`);
  const passage = { n: 1, title: 't', section: '', url: '/x', lang: 'en', kind: 'project', quote: '' };
  window.fetch = async () => ({ ok: true, body: new ReadableStream({ start(stream) {
    stream.enqueue(say('sources', { documents: [], passages: cited ? [passage] : [] }));
    for (const content of pieces) stream.enqueue(say('chunk', { content }));
    stream.enqueue(say('done', { route: 'answer' }));
    stream.close();
  } }) });
  const root = document.querySelector('.rony-chat-widget-root').shadowRoot;
  root.querySelector('[aria-label="Forget this conversation"]').click();
  await window.RonyChat.ask('q');
  return [...root.querySelectorAll('.md')].pop().innerHTML;
})()"""


@pytest.fixture
def chat(page: Page, stage: Stage) -> Chat:
    """The widget, open, drawing at once."""
    chat = Chat(page, stage).load('data-history="off"').open()
    page.evaluate(AT_ONCE)
    return chat


def draw(chat: Chat, *pieces: str, cited: bool = False) -> str:
    """The DOM of an answer that came in these pieces."""
    html: str = chat.page.evaluate(FEED, [list(pieces), cited])
    return html


CASES = {
    "paragraphs": ("a\n\nb\nc", "<p>a</p><p>b<br>c</p>"),
    "emphasis": ("*a* **b** ***c*** _d_ ~~e~~", "<p><em>a</em> <strong>b</strong> "
                 "<strong><em>c</em></strong> <em>d</em> <del>e</del></p>"),
    "nested": ("**a *b* c**", "<p><strong>a <em>b</em> c</strong></p>"),
    "unclosed": ("**a *b", "<p>**a *b</p>"),
    "crossed": ("*a **b* c**", "<p><em>a **b</em> c**</p>"),
    "words": ("snake_case_name 2*3*4 a * b", "<p>snake_case_name 2*3*4 a * b</p>"),
    "escapes": (r"\*a\* \[1\]", "<p>*a* [1]</p>"),
    "code": ("`a` ``b ` c`` `d", "<p><code>a</code> <code>b ` c</code> `d</p>"),
    "heading": ("## Title #\ntext", '<p class="h"><strong>Title</strong></p><p>text</p>'),
    "rule": ("a\n\n---\nb", "<p>a</p><hr><p>b</p>"),
    "list": ("- a\n- b", "<ul><li>a</li><li>b</li></ul>"),
    "loose list": ("1. a\n\n2. b\n   more", "<ol><li>a</li><li>b<br>more</li></ol>"),
    "nested list": ("- a\n  - b\n    1. c\n- d",
                    "<ul><li>a<ul><li>b<ol><li>c</li></ol></li></ul></li><li>d</li></ul>"),
    "list after text": ("See:\n- a\n- b\n\nEnd", "<p>See:</p><ul><li>a</li><li>b</li></ul><p>End</p>"),
    "start": ("3. a\n4. b", '<ol start="3"><li>a</li><li>b</li></ol>'),
    "two kinds": ("- a\n1. b", "<ul><li>a</li></ul><ol><li>b</li></ol>"),
    "year": ("In\n1986. A year", "<p>In<br>1986. A year</p>"),
    "quote": ("> a\n> **b**", "<blockquote><p>a<br><strong>b</strong></p></blockquote>"),
    "fence": ("```js\nlet a;\n\n*b*\n```\nc",
              '<pre tabindex="0" role="group" aria-label="Code"><code>let a;\n\n*b*</code></pre><p>c</p>'),
    "open fence": ("~~~\na", '<pre tabindex="0" role="group" aria-label="Code"><code>a</code></pre>'),
    "table": (
        "| a | b |\n|---|:-:|\n| 1 \\| 2 | **3** | 4 |\n| 5 |\n\nx",
        '<div class="t" tabindex="0" role="group" aria-label="Table"><table>'
        '<thead><tr><th scope="col">a</th><th scope="col">b</th></tr></thead>'
        "<tbody><tr><td>1 | 2</td><td><strong>3</strong></td></tr>"
        "<tr><td>5</td></tr></tbody></table></div><p>x</p>",
    ),
    "html": ("<b>a</b> &amp;", "<p>&lt;b&gt;a&lt;/b&gt; &amp;amp;</p>"),
    "no table": ("a | b\nc | d", "<p>a | b<br>c | d</p>"),
}  # fmt: skip


def test_what_it_looks_like(chat: Chat) -> None:
    for name, (written, html) in CASES.items():
        assert draw(chat, written) == html, name
        assert draw(chat, *written) == html, f"{name}, letter by letter"


MARKS = st.sampled_from([
    "*", "**", "***", "_", "__", "~~", "`", "``", "```", "```js\n", "~~~\n", "\n```\n", "[", "]",
    "(", ")", "](", "![",
    "[1]", "[1, 1]", "[9]",
    "[a](https://a.b/c)", "![a](b)", "https://a.b/c.", "<https://a.b>", "<b>", "&amp;", "\\",
    "\\*", "# ", "\n## ",
    "> ", "\n> ", "\n>> ", "- ",
    "\n- ", "\n  - ", "\n    - ", "\n1. ", "\n2) ", "\n   ", "\n\n", "\n", "\n\n\n", "|", " | ",
    "\n|---|---|\n",
    "\n--|--\n", "| a | b |\n", "---",
    "\n---\n", "\n***\n", "a", "b c", " ", "é", "🌊", "👩\u200d🚀", "\u2028", "\u202e", "\r\n",
    "\t", "1", "x_y_z", "2*3",
])  # fmt: skip
TEXTS = st.lists(st.one_of(MARKS, MARKS, st.text(max_size=4)), max_size=25).map("".join)


def test_any_prefix_draws_and_the_end_is_as_if_it_had_come_at_once(chat: Chat) -> None:
    @settings(
        max_examples=100,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(TEXTS, st.booleans(), st.integers(1, 7))
    def holds(written: str, cited: bool, size: int) -> None:
        written = written.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
        pieces = [written[i : i + size] for i in range(0, len(written), size)]
        assert draw(chat, *pieces, cited=cited) == draw(chat, written, cited=cited)

    holds()


HARD = {
    "brackets": "[" * 20_000,
    "closed brackets": "[a](" * 8_000,
    "images": "![" * 10_000,
    "links with blanks": "[a](b " * 6_000,
    "stars": "*a **a " * 5_000,
    "crossed": "*a __b *c _d ~~e " * 3_000,
    "ticks": "".join("`" * (n % 60 + 1) + "a" for n in range(1_200)),
    "quotes": ">" * 20_000,
    "deep list": "\n".join(" " * (2 * n) + "- a" for n in range(200)),
    "rows": "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 1_500,
    "wide table": "|a" * 3_000 + "\n" + "|-" * 3_000 + "\n" + "|b\n" * 500,
    "widest table": "|a" * 30 + "\n" + "|-" * 30 + "\n" + ("|b" * 30 + "\n") * 60,
    "dashes": "- " * 10_000 + "x",
    "one word": "a" * 20_000,
    "blanks": "a" + " " * 20_000 + "b",
    "blank lines": "- a" + "\n" * 20_000 + "x",
    "addresses": "https://" + "a." * 10_000,
    "trailing marks": "https://a.b" + "!" * 20_000,
}


@pytest.mark.parametrize("written", HARD.values(), ids=HARD.keys())
def test_no_text_is_slow(chat: Chat, written: str) -> None:
    """At once and in pieces of 100 characters, each drawn; in seconds of the CPU, not of the wall."""
    session = chat.page.context.new_cdp_session(chat.page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def script_seconds() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return float(next(item["value"] for item in metrics if item["name"] == "ScriptDuration"))

    began = script_seconds()
    draw(chat, written)
    draw(chat, *(written[i : i + 100] for i in range(0, len(written), 100)))
    spent = script_seconds() - began
    session.detach()
    assert 0 < spent < 6


def test_the_cost_of_a_long_answer_is_linear(chat: Chat) -> None:
    """Counted in nodes made, not in time: each piece may draw the last block anew, never the whole."""
    text = "A paragraph with **bold** words and `code` [1].\n\n" * 320
    pieces = [text[i : i + 8] for i in range(0, len(text), 8)]
    chat.page.evaluate(
        """() => {
          window.__made = 0;
          for (const name of ['createElement', 'createTextNode']) {
            const make = Document.prototype[name];
            Document.prototype[name] = function (...given) {
              window.__made++;
              return make.apply(this, given);
            };
          }
        }"""
    )
    draw(chat, *pieces, cited=True)
    made = int(chat.page.evaluate("window.__made"))
    assert 320 < made < 12 * len(pieces) + 12 * 320


def test_text_already_complete_keeps_its_nodes(chat: Chat) -> None:
    """A selection, or the focus on a link, survives the words that follow."""
    chat.page.evaluate(
        """() => {
          const root = document.querySelector('.rony-chat-widget-root').shadowRoot, bytes = new TextEncoder();
          const say = (content) => bytes.encode(`data: ${JSON.stringify({ type: 'chunk', content })}\\n\\n`);
          window.fetch = async () => ({ ok: true, body: new ReadableStream({ async start(stream) {
            stream.enqueue(say('[a](/b)\\n\\nsecond\\n\\nthird\\n\\nfourth'));
            await new Promise((resolve) => setTimeout(resolve, 60));
            window.__first = root.querySelector('.md a');
            stream.enqueue(say(' more\\n\\nfifth'));
            stream.enqueue(bytes.encode('data: {"type":"done"}\\n\\n'));
            stream.close();
          } }) });
          return window.RonyChat.ask('q');
        }"""
    )
    assert chat.page.evaluate("window.__first.isConnected")
    assert chat.text.locator("p").count() == 5
