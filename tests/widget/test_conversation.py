"""Asking: the stream, its states, stop, retry, history, feedback."""

from __future__ import annotations

import json
import re
import threading
from typing import TYPE_CHECKING, Any

import pytest

from tests.patience import wait_until
from tests.widget.driver import Chat, stored
from tests.widget.stage import START, answer, chunks, done, event, passage, sources

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

    from tests.widget.stage import Stage

pytestmark = pytest.mark.browser


@pytest.fixture
def chat(page: Page, stage: Stage) -> Chat:
    """The widget, open."""
    return Chat(page, stage).load().open()


def test_words_appear_as_they_come(chat: Chat, stage: Stage) -> None:
    more, end = threading.Event(), threading.Event()
    stage.play(START, sources(), chunks("With "), more, chunks("Stripe [1]."), end, done())
    chat.ask()
    chat.wait_text("With")
    assert chat.text.inner_text() == "With"
    more.set()
    chat.wait_text("Stripe")
    assert chat.send.get_attribute("aria-label") == "Stop"
    end.set()
    chat.settled()
    assert chat.text.inner_text() == "With Stripe 1."


def test_the_first_word_is_there_in_the_frame_after_its_bytes(chat: Chat, stage: Stage) -> None:
    chat.page.evaluate(
        """() => {
          const root = document.querySelector('.rony-chat-widget-root').shadowRoot, native = fetch;
          window.fetch = async (...args) => {
            const reply = await native(...args);
            if (!String(args[0]).endsWith('/chat')) return reply;
            const reader = reply.body.getReader();
            return { ok: true, body: { getReader: () => ({ read: async () => {
              const piece = await reader.read();
              if (!piece.done && new TextDecoder().decode(piece.value).includes('First')) {
                let frames = 0;
                const look = () => {
                  frames++;
                  if (root.querySelector('.md')?.textContent.includes('First')) window.__frames = frames;
                  else requestAnimationFrame(look);
                };
                setTimeout(() => requestAnimationFrame(look));
              }
              return piece;
            } }) } };
          };
        }"""
    )
    stage.play(START, 0.05, chunks("First"), 0.2, done())
    chat.asked()
    assert chat.page.evaluate("window.__frames") <= 2


def test_sources_come_before_the_answer_with_section_quote_and_language(
    chat: Chat, stage: Stage
) -> None:
    go = threading.Event()
    spanish = passage(
        2,
        title="Sobre el estudio",
        section="",
        url="/sobre#como",
        lang="es",
        quote="Somos dos personas.",
    )
    stage.play(START, sources(passage(), spanish), go, chunks("Yes [1]."), done())
    chat.ask()
    chat.cards.first.wait_for()
    assert chat.text.inner_text() == ""
    assert chat.cards.first.inner_text().split("\n") == [
        "1 Clothes shop", "Payments", "Payments go through Stripe, with cards and Bizum."]  # fmt: skip
    second = chat.cards.nth(1)
    assert "in Spanish" in second.inner_text()
    assert second.locator("q").get_attribute("lang") == "es"
    assert "in English" not in chat.cards.first.inner_text()
    go.set()
    chat.settled()


def test_a_spanish_question_marks_the_english_source(chat: Chat, stage: Stage) -> None:
    chat.asked("¿Con qué se paga en la tienda?")
    assert "in English" in chat.cards.first.inner_text()


def test_links_land_on_the_passage(chat: Chat, stage: Stage) -> None:
    long = "one two three four five six seven eight, nine ten-eleven twelve…"
    stage.play(
        START,
        sources(
            passage(),
            passage(2, url="https://example.org/a", quote=long),
            passage(3, url="/b", quote=""),
        ),
        chunks("a [1] b [2, 3] c [9]."),
        done(),
    )
    chat.asked()
    links = chat.text.locator("a.cite")
    here = stage.origin
    assert [links.nth(i).get_attribute("href") for i in range(links.count())] == [
        f"{here}/projects/clothes-shop#payments:~:text=Payments%20go%20through%20Stripe%2C%20with%20cards%20and%20Bizum.",
        "https://example.org/a#:~:text=one%20two%20three%20four,eight%2C%20nine%20ten%2Deleven%20twelve",
        f"{here}/b",
    ]
    assert links.first.get_attribute("aria-label") == "Source 1: Clothes shop — Payments"
    assert links.first.get_attribute("target") is None
    assert links.nth(1).get_attribute("target") == "_blank"
    assert links.nth(1).get_attribute("rel") == "noopener noreferrer nofollow"
    assert chat.text.inner_text() == "a 1 b 23 c [9]."


def test_a_click_lands_there(chat: Chat, stage: Stage) -> None:
    stage.host("<h2 id=payments>Payments</h2><p>Payments go through Stripe, with cards and Bizum.</p>",
               path="/projects/clothes-shop")  # fmt: skip
    chat.asked()
    chat.cards.first.locator("a").click()
    chat.page.wait_for_url(re.compile("/projects/clothes-shop#payments"))


def test_a_second_sources_event_replaces_the_first(chat: Chat, stage: Stage) -> None:
    stage.play(START, sources(), chunks("One [1]. Two [2]."), 0.1,
               sources(passage(1, title="First", url="/first", quote=""),
                       passage(2, title="Second", url="/second", quote="")),
               done())  # fmt: skip
    chat.asked()
    assert [card.split("\n")[0] for card in chat.cards.all_inner_texts()] == ["1 First", "2 Second"]
    hrefs = chat.text.locator("a").evaluate_all("links => links.map((link) => link.pathname)")
    assert hrefs == ["/first", "/second"]


def test_progress_is_real(chat: Chat, stage: Stage) -> None:
    one, two = threading.Event(), threading.Event()
    stage.play(START, sources(), event("progress", processed=0, total=0),
               event("progress", processed=250, total=1000),
               one, event("progress", processed=1000, total=1000), two, chunks("x"), done())  # fmt: skip
    chat.ask()
    bar = chat.page.locator("progress")
    chat.state.filter(has_text="25 %").wait_for()
    assert bar.evaluate("bar => bar.value") == 25
    assert bar.is_visible()
    one.set()
    chat.state.filter(has_text="100 %").wait_for()
    two.set()
    chat.settled()
    assert not bar.is_visible()
    assert not chat.state.is_visible()


def test_place_in_the_line(chat: Chat, stage: Stage) -> None:
    one, two = threading.Event(), threading.Event()
    stage.play(START, event("queued", position=2, eta_seconds=11.2), one,
               event("queued", position=1, eta_seconds=0.0),
               two, sources(), chunks("x"), done())  # fmt: skip
    chat.ask()
    chat.state.filter(has_text="You are number 2 in line: about 12 s").wait_for()
    one.set()
    chat.state.filter(has_text=re.compile("^You are next$")).wait_for()
    two.set()
    chat.settled()


def test_folded_history_is_said(chat: Chat, stage: Stage) -> None:
    stage.play(START, event("compaction", older_turns=6, kept_turns=4, summary_tokens=90,
                            window_tokens=4096, used_tokens=3000),
               sources(), chunks("x"), done())  # fmt: skip
    chat.asked()
    assert chat.page.locator(".note").inner_text() == "6 earlier turns were summarised."


def test_a_refusal_is_an_answer_with_the_nearest_pages(chat: Chat, stage: Stage) -> None:
    stage.play(answer("I don't have that.", route="refusal"))
    chat.asked()
    assert chat.page.locator("h3").inner_text() == "Nearest pages"
    assert not chat.page.locator(".fail").count()
    assert chat.page.locator(".chips .chip").first.is_visible()


def test_unknown_events_and_comments_are_passed_over(chat: Chat, stage: Stage) -> None:
    stage.play(
        b": hello\n\n",
        START,
        b": beat\n\n",
        event("novelty", x=1),
        sources(),
        chunks("ok"),
        b"retry: 1\n\n",
        done(),
    )
    chat.asked()
    assert chat.text.inner_text() == "ok"


# ---- framing ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"], ids=["lf", "crlf", "cr"])
def test_frames_cut_at_every_byte(chat: Chat, stage: Stage, newline: bytes) -> None:
    """SSE-01: text between the three line ends of the standard arrives whole, whatever the cuts."""
    said = "a\u2028b\u2029c\u0085d — ñ 🌊 \\n"
    whole = (START + sources() + chunks(said) + done()).replace(b"\n", newline)
    stage.play(*(bytes([byte]) for byte in whole))
    chat.asked()
    assert chat.text.evaluate("node => node.textContent") == said.replace("\\n", "\\n")


@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"], ids=["lf", "crlf", "cr"])
def test_several_data_lines_are_one_event(chat: Chat, stage: Stage, newline: bytes) -> None:
    """A line end of two bytes that is cut in the middle is one line end, not an empty line."""
    whole = START + b'data: {"type": "chunk",\ndata: "content": "two lines"}\n\n' + done()
    stage.play(*(step for byte in whole.replace(b"\n", newline) for step in (bytes([byte]), 0.0)))
    chat.asked()
    assert chat.text.inner_text() == "two lines"


def test_text_that_looks_like_an_event_stays_text(chat: Chat, stage: Stage) -> None:
    """X16."""
    forged = 'x\n\ndata: {"type":"done"}\n\nevent: done\rid: 7'
    stage.play(START, chunks(forged), chunks(" and more"), done())
    chat.asked()
    assert "and more" in chat.text.inner_text()
    assert 'data: {"type":"done"}' in chat.text.inner_text()


# ---- when it goes wrong -------------------------------------------------------------------------------


def test_a_stream_without_its_last_event_is_said_to_be_cut(chat: Chat, stage: Stage) -> None:
    """SSE-04: the text stays, can be asked again, and is not sent as history."""
    stage.play(START, sources(), chunks("Half an"))
    chat.asked()
    assert chat.text.inner_text() == "Half an"
    assert "The answer broke off." in chat.page.locator(".fail").inner_text()
    stage.play(answer("The whole answer [1]."))
    chat.page.get_by_role("button", name="Try again").click()
    chat.wait_text("The whole answer")
    chat.settled()
    assert chat.page.locator(".turn").count() == 1
    assert chat.focused() == "log", "the button that had the focus is gone"
    assert [m["content"] for m in stage.asked[1]["messages"]] == ["How do customers pay?"]
    stage.play(answer("Third."))
    chat.asked("And then?")
    assert [m["content"] for m in stage.asked[2]["messages"]] == [
        "How do customers pay?", "The whole answer [1].", "And then?"]  # fmt: skip


def test_a_broken_event_is_a_cut(chat: Chat, stage: Stage) -> None:
    stage.play(START, chunks("Half"), b"data: {oops\n\n")
    chat.asked()
    assert "broke off" in chat.page.locator(".fail").inner_text()
    assert chat.text.inner_text() == "Half"


def test_an_error_event_keeps_text_and_offers_another_try(chat: Chat, stage: Stage) -> None:
    stage.play(
        START,
        sources(),
        chunks("Half"),
        event("error", code="model-interrupted", message="Lost.", retryable=True),
    )
    chat.asked()
    assert (
        "The answer broke off. The chat is not available now."
        in chat.page.locator(".fail").inner_text()
    )
    assert chat.page.get_by_role("button", name="Try again").is_enabled()
    assert chat.cards.first.is_visible()


def test_an_error_that_no_retry_helps(chat: Chat, stage: Stage) -> None:
    stage.play(
        START, event("error", code="invalid-question", message="Nothing to ask.", retryable=False)
    )
    chat.asked()
    assert chat.page.locator(".fail").inner_text() == "Nothing to ask."
    assert not chat.page.get_by_role("button", name="Try again").count()


def test_too_many_questions_say_how_long_to_wait(chat: Chat, stage: Stage) -> None:
    stage.refuse(429, "rate-limited", {"Retry-After": "2"})
    chat.asked()
    again = chat.page.locator(".again")
    assert "Too many questions" in chat.page.locator(".fail").inner_text()
    assert again.is_disabled()
    assert "in 2 s" in again.inner_text()
    again.and_(chat.page.locator(":enabled")).wait_for()
    again.click()
    chat.wait_text("Stripe")


@pytest.mark.parametrize(
    ("status", "code", "extra", "said", "retry"),
    [
        (503, "busy", {}, "Many people are asking right now.", True),
        (
            422,
            "question-too-long",
            {"limit": 1000},
            "The question is too long: 1000 characters at most.",
            False,
        ),
        (403, "origin-not-allowed", {}, "The chat takes no questions from this site.", False),
        (504, "model-timeout", {}, "The chat is not available now.", True),
        (413, "body-too-large", {}, "The chat is not available now.", False),
    ],
)
def test_refusals(
    chat: Chat, stage: Stage, status: int, code: str, extra: dict[str, Any], said: str, retry: bool
) -> None:
    stage.refuse(status, code, **extra)
    chat.asked()
    assert said in chat.page.locator(".fail").inner_text()
    assert chat.page.locator(".again").count() == int(retry)


def test_a_proxys_error_page_is_no_surprise(chat: Chat, stage: Stage) -> None:
    stage.replies.append((502, {}, b"<html>Bad gateway</html>"))
    chat.asked()
    assert "not available" in chat.page.locator(".fail").inner_text()


def test_no_connection(chat: Chat) -> None:
    chat.page.route("**/api/chat", lambda route: route.abort())
    chat.asked()
    chat.page.unroute("**/api/chat")
    assert "The chat can't be reached." in chat.page.locator(".fail").inner_text()


def test_stop_really_stops(chat: Chat, stage: Stage) -> None:
    stage.play(START, sources(), chunks("So far"), threading.Event(), done())
    chat.ask()
    chat.wait_text("So far")
    chat.page.wait_for_timeout(400)
    chat.send.click()
    chat.settled()
    assert stage.left.wait(60), "the server did not see the visitor leave"
    assert chat.text.inner_text() == "So far"
    assert "Answer stopped." in chat.page.locator(".fail").inner_text()
    assert chat.page.get_by_role("button", name="Ask again").is_visible()


def test_a_stream_that_falls_silent_is_given_up(chat: Chat, stage: Stage) -> None:
    """A paused bot or a dead link sends nothing, not even the comment of every 10 s."""
    chat.page.clock.install()
    stage.play(START, sources(), chunks("So far"), threading.Event(), done())
    chat.ask()
    chat.page.clock.run_for(1000)  # frames are drawn by this clock now
    chat.wait_text("So far")
    chat.page.clock.run_for(40_000)
    assert not chat.page.locator(".fail").count()
    chat.page.clock.run_for(10_000)
    chat.settled()
    assert stage.left.wait(60), "the server did not see the visitor leave"
    assert chat.text.inner_text() == "So far"
    assert "The answer broke off." in chat.page.locator(".fail").inner_text()
    assert chat.page.get_by_role("button", name="Try again").is_visible()


def test_a_double_click_on_send_does_not_stop(chat: Chat, stage: Stage) -> None:
    stage.play(START, 0.1, chunks("Whole"), done())
    chat.box.fill("x")
    # Both in one go: a busy machine can put more than the 350 ms between the two of a `dblclick`.
    chat.send.evaluate("node => { node.click(); node.click(); }")
    chat.wait_text("Whole")
    chat.settled()
    assert len(stage.asked) == 1
    assert not chat.page.locator(".fail").count()


# ---- history --------------------------------------------------------------------------------------------


def test_nothing_is_read_stored_or_asked_before_it_is_opened(page: Page, stage: Stage) -> None:
    chat = Chat(page, stage).load()
    chat.launcher.wait_for()
    page.wait_for_timeout(100)
    assert sorted(set(stage.paths)) == ["/", "/chat-widget.css", "/chat-widget.js"]
    assert stored(page) == {"local": {}, "session": {}}
    chat.open()
    assert stored(page) == {"local": {}, "session": {}}
    assert stage.cookies == []


def test_the_last_five_turns_are_sent(chat: Chat, stage: Stage) -> None:
    for n in range(7):
        stage.play(answer(f"Answer {n}."))
        chat.asked(f"Question {n}?")
    messages = stage.asked[-1]["messages"]
    assert len(messages) == 11
    assert messages[0] == {"role": "user", "content": "Question 1?"}
    assert messages[-1] == {"role": "user", "content": "Question 6?"}
    assert stage.asked[-1]["conversation_id"] == "c" * 32
    assert "conversation_id" not in stage.asked[0]
    assert set(stage.asked[-1]) == {"messages", "stream", "conversation_id"}


def test_a_question_never_exceeds_what_the_bot_takes(chat: Chat, stage: Stage) -> None:
    for n in range(4):
        stage.play(answer("ñ" * 3000))
        chat.asked(f"Question {n}?")
    assert len(json.dumps(stage.asked[-1], ensure_ascii=False).encode()) <= 15_100
    assert len(stage.asked[-1]["messages"]) == 5


def test_the_conversation_is_there_after_a_reload_and_on_other_pages(
    chat: Chat, stage: Stage
) -> None:
    chat.asked()
    chat.load(path="/other").open()
    chat.wait_text("Con Stripe")
    assert chat.cards.count() == 1
    assert chat.page.locator(".me").inner_text() == "How do customers pay?"
    chat.asked("And delivery?")
    assert len(stage.asked[-1]["messages"]) == 3
    assert stage.asked[-1]["conversation_id"] == "c" * 32


def test_forget_leaves_nothing(chat: Chat, stage: Stage) -> None:
    """P7."""
    chat.asked()
    assert stored(chat.page)["local"]
    chat.page.get_by_role("button", name="Forget this conversation").click()
    assert stored(chat.page) == {"local": {}, "session": {}}
    assert not chat.page.locator(".turn").count()
    assert chat.page.locator(".hi").is_visible()
    chat.asked("Next?")
    assert len(stage.asked[-1]["messages"]) == 1
    assert "conversation_id" not in stage.asked[-1]


def test_history_can_be_switched_off(page: Page, stage: Stage) -> None:
    chat = Chat(page, stage).load('data-history="off"').open().asked()
    assert stored(page) == {"local": {}, "session": {}}
    chat.asked("And?")
    assert len(stage.asked[-1]["messages"]) == 3
    chat.load('data-history="off"').open()
    assert not page.locator(".turn").count()


@pytest.mark.parametrize(
    "kept",
    [
        "{",
        "null",
        "[]",
        '{"at": 9e99, "turns": [{"q": 1}, null, {"q": "x", "a": "y", "s": [{"n": "a"}, 3]}]}',
        '{"at": 1, "turns": [{"q": "old", "a": "old"}]}',
        '{"at": 9e99, "turns": 7}',
    ],
)
def test_broken_storage_does_no_harm(page: Page, stage: Stage, kept: str) -> None:
    chat = Chat(page, stage).load()
    page.evaluate(
        "kept => localStorage.setItem(`rony-chat:${location.origin}/api/chat`, kept)", kept
    )
    chat.open().asked()
    assert "Con Stripe" in chat.text.inner_text()


def test_an_id_of_another_form_is_not_sent(page: Page, stage: Stage) -> None:
    """The bot refuses it with 400, and would at every question."""
    chat = Chat(page, stage).load()
    page.evaluate("sessionStorage.setItem(`rony-chat:${location.origin}/api/chat`, 'short')")
    chat.open().asked()
    assert "conversation_id" not in stage.asked[0]


def test_without_storage_the_chat_still_works(new_page: Callable[..., Page], stage: Stage) -> None:
    page = new_page()
    page.add_init_script(
        "for (const name of ['localStorage', 'sessionStorage']) "
        "Object.defineProperty(window, name, { get() { throw new DOMException('no', 'SecurityError'); } });"
    )
    chat = Chat(page, stage).load().open().asked().asked("And?")
    assert len(stage.asked[-1]["messages"]) == 3
    assert "Con Stripe" in chat.text.inner_text()


def test_forgetting_in_one_tab_clears_the_other(chat: Chat, stage: Stage) -> None:
    chat.asked()
    other = chat.page.context.new_page()
    other.goto(stage.origin + "/")
    other.evaluate("localStorage.clear()")
    chat.page.locator(".turn").wait_for(state="detached")
    other.close()


# ---- suggestions, copy, feedback, words ----------------------------------------------------------


def test_suggested_questions_come_from_the_bot(chat: Chat, stage: Stage) -> None:
    chat.page.get_by_role("button", name="What do you build?").click()
    chat.wait_text("Con Stripe")
    chat.settled()
    assert stage.asked[0]["messages"][0]["content"] == "What do you build?"
    assert not chat.page.locator(".chips").is_visible()


@pytest.mark.parametrize("given", ["One?|Two?", '["One?", "Two?"]'])
def test_or_from_the_tag(page: Page, stage: Stage, given: str) -> None:
    Chat(page, stage).load(f"data-suggestions='{given}'").open()
    page.get_by_role("button", name="Two?").wait_for()
    wait_until(lambda: page.locator(".chips .chip").all_inner_texts() == ["One?", "Two?"])


def test_without_info_it_works_all_the_same(page: Page, stage: Stage) -> None:
    stage.info = None
    chat = Chat(page, stage).load().open().asked()
    assert "Con Stripe" in chat.text.inner_text()
    assert page.locator("h2").inner_text() == "Ask this site"


def test_copy_takes_answer_and_sources(chat: Chat, stage: Stage) -> None:
    chat.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    chat.asked()
    chat.page.get_by_role("button", name="Copy").click()
    chat.page.locator(".tools .on").wait_for()
    assert chat.page.evaluate("navigator.clipboard.readText()") == (
        f"Con Stripe [1].\n\n[1] Clothes shop — Payments {stage.origin}/projects/clothes-shop#payments"
    )


def test_thumbs_only_where_the_owner_wants_them(page: Page, stage: Stage) -> None:
    chat = Chat(page, stage).load().open().asked()
    assert not page.locator(".thumbs").count()
    assert stage.info is not None
    stage.info["feedback"] = True
    stage.play(START + sources() + chunks("x") + done(answer_id="a7"))
    chat.load(path="/b").open()
    # Then it knows what the owner wants.
    page.locator("h2").filter(has_text=stage.info["name"]).wait_for()
    chat.asked("Again?")
    assert page.locator(".thumbs").count() == 1
    chat.asked("And one that the bot takes no vote on?")
    assert page.locator(".thumbs").count() == 1
    page.get_by_role("button", name="Not helpful").click()
    assert chat.focused() == "chip"
    page.get_by_role("button", name="It is outdated").click()
    page.get_by_text("Thank you.").first.wait_for()
    stage.play(START + sources() + chunks("x") + done(answer_id="a8"))
    chat.asked("Third?")
    page.get_by_role("button", name="Helpful", exact=True).click()
    wait_until(lambda: len(stage.feedback) == 2)
    assert stage.feedback == [
        {"conversation_id": "c" * 32, "rating": "down", "answer_id": "a7", "reason": "outdated"},
        {"conversation_id": "c" * 32, "rating": "up", "answer_id": "a8"},
    ]


def test_the_notice_that_an_ai_answers_is_always_there(chat: Chat) -> None:
    notice = chat.page.get_by_text("An AI answers and can be wrong")
    assert notice.is_visible()
    chat.asked()
    assert notice.is_visible()


def test_a_hidden_character_never_reaches_the_page(chat: Chat, stage: Stage) -> None:
    """B9."""
    stage.play(
        START,
        sources(passage(title="a\u202eb\u200bc")),
        chunks("x\u202ey\U000e0041z\x07 👩\u200d🚀"),
        done(),
    )
    chat.asked("q\u2066r")
    assert chat.text.evaluate("node => node.textContent") == "xyz 👩\u200d🚀"
    assert chat.cards.first.inner_text().startswith("1 abc")
    assert stage.asked[0]["messages"][0]["content"] == "qr"
