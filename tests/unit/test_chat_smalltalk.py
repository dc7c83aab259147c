"""Small talk is recognised only as a whole message; a greeting before a question keeps the question."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from bot.chat.smalltalk import recognise
from bot.chat.smalltalk_frames import SmallTalk

GATE = yaml.safe_load((Path(__file__).parents[1] / "eval/gate.yaml").read_text())["questions"]

WHOLE: dict[SmallTalk, str] = {
    "greeting": """
        hola | Hola | ¡¡Hola!! | holaaa | HOLA | hola 👋 | hola. | ¿hola? | hola, hola | buenas | muy buenas!
        buenos días | Buenos dias | buenas tardes… | hola buenas | hola, ¿qué tal? | ¿Qué tal estás?
        hola a todos | hey | heyyy | Hi! | hi | hi :) | hello | Hello there | hello? | good morning
        how are you? | how are you doing
        Hey! What's up? | how's it going | hola marea | Hello, Marea! | buenos días, Marea, ¿cómo estás?
    """,
    "thanks": """
        gracias | ¡Gracias! | muchas gracias | gracias por tu ayuda | ok gracias | ok | vale | perfecto
        thanks | Thanks! | thank you very much | Ok, thanks! | great, thank you | thx | thanks a lot | got it
        hola, gracias | gracias, Marea | muchas gracias por todo
    """,
    "goodbye": """
        adiós | Adios! | hasta luego | chao | nos vemos | bye | Bye bye! | see you later | goodbye | ciao
        gracias, adiós | Thanks, bye! | ok gracias, hasta luego | thank you and goodbye | have a nice day
        que tengas un buen día
    """,
    "identity": """
        ¿Quién eres? | quien eres | ¿Eres un bot? | ¿Eres humano? | ¿Cómo te llamas? | ¿Qué puedes hacer?
        who are you? | Are you a robot? | are you human | what's your name? | What can you do? | help | ayuda
        hola, ¿quién eres? | hello who are you | ¿quién eres y qué puedes hacer?
        ¿eres una persona o un robot?
    """,
}
TABLE = [
    (message.strip(), kind)
    for kind, block in WHOLE.items()
    for line in block.strip().splitlines()
    for message in line.split("|")
]
KEPT = {
    "Hola, ¿qué proyectos tienes?": "qué proyectos tienes?",
    "hola que proyectos tienes": "que proyectos tienes",
    "Hi! What is RAG?": "What is RAG?",
    "hi what projects do you have": "what projects do you have",
    "Buenos días. Me gustaría saber el precio": "Me gustaría saber el precio",
    "hello, Python?": "Python?",
    "¡Hola! ¿Usáis C++?": "Usáis C++?",
    "Hola Marea, ¿qué es Faro?": "qué es Faro?",
    "hola - el precio": "el precio",
    "Hey\nwhat about Rust": "what about Rust",
    "hola que hay que hacer": "que hay que hacer",
}
NO_SMALL_TALK = [
    "think", "high-tech stack?", "hi-res images?", "hello.js?", "hola mundo en C", "hello world in Rust",
    "gracias, y el precio?", "thanks, and in Python?", "what your", "thistle", "ok computer album", "holanda",
    "heyday", "buenas prácticas de CSS", "good morning routine", "gracias a quién se hizo", "byebug gem",
    "qué hay que pagar", "qué hay en el blog", "que pasa si cancelo un pedido", "cómo estás hecho",
    "how are you built", "what are your services", "what are you working on", "who is this project for",
    "help me with Docker", "ayuda con Docker", "nice projects", "cool, y en Python?", "vale la pena", "y",
    "???", "👋", "", "   ", "¿", "de nada", "marea", "and",
]  # fmt: skip


def test_the_tables_are_large_enough() -> None:
    assert len(TABLE) + len(KEPT) + len(NO_SMALL_TALK) >= 120


@pytest.mark.parametrize(("message", "kind"), TABLE)
def test_a_whole_message_of_small_talk_is_recognised(message: str, kind: SmallTalk) -> None:
    """GRT-01"""
    assert recognise(message, "Marea").kind == kind


@pytest.mark.parametrize(("message", "rest"), KEPT.items())
def test_a_greeting_before_a_question_keeps_the_question(message: str, rest: str) -> None:
    """GRT-01"""
    found = recognise(message, "Marea")
    assert (found.kind, found.rest) == (None, rest)


@pytest.mark.parametrize("message", NO_SMALL_TALK)
def test_what_only_looks_like_small_talk_is_searched_whole(message: str) -> None:
    """GRT-01: «hi» inside «think», «your» as «you»."""
    found = recognise(message, "Marea")
    assert (found.kind, found.rest) == (None, message)


def test_a_name_alone_is_no_small_talk_and_another_name_is_none_either() -> None:
    assert recognise("hola Faro", "Marea").kind is None
    assert recognise("hola Faro", "Faro").kind == "greeting"
    assert recognise("Faro", "Faro").kind is None
    assert recognise("hola Ana María, gracias", "Ana María").kind == "thanks"


def test_no_question_of_the_evaluation_set_is_taken_for_small_talk() -> None:
    taken = [q["question"] for q in GATE if recognise(q["question"], "Marea").kind]
    cut = [q["question"] for q in GATE if recognise(q["question"], "Marea").rest != q["question"]]
    assert (taken, cut) == ([], [])


# In words that no table lists; mistyped, without accents, with a name.
OTHER_WORDS: dict[SmallTalk, str] = {
    "greeting": """
        good evening to you | hey bot | hi, nice to meet you | hola, encantado | wenas | hola amigo
        helo | heya | buenso dias | hola que tal todo | morning! | hola, como andas?
        how is your day going? | hola guapo | ey, ¿cómo lo llevas? | buenas noches a todos
    """,
    "thanks": """
        thankss | grcias | muchas grasias | thank u so much for the info | that was helpful
        great answer! | te lo agradezco mucho | gracias por responder tan rápido
        awesome, that helps | muy amable | good bot | eso es todo, gracias
        perfect, exactly what I needed | cheers mate
    """,
    "goodbye": """
        bye for now | see u | hasta la próxima | un saludo | me voy, gracias | have a nice weekend
        cuidate | talk to you later | gotta go, thanks | que te vaya bien | hasta otra, un saludo
        buen finde
    """,
    "identity": """
        what are you exactly | are u human or bot | quién te hizo | quien te programo?
        who made you? | kien eres | who built you | what can u do | how do you work
        in which languages do you speak | q eres | who r u? | puedo escribirte en inglés?
        hablas ingles? | do you have a name? | what is this chat for? | are you a robto
        de dónde sacas la información? | where do you get your answers from
        who created this assistant | is this a human | hay alguien ahí? | qué sabes hacer?
        who is behind this chat? | are you gpt-4? | con qué modelo funcionas | what's your purpose
        qué clase de bot eres | eres un humnao? | ¿estoy hablando con una máquina?
        ¿qué tipo de cosas te puedo preguntar? | hi, are you a real person?
    """,
}
OTHER = [
    (message.strip(), kind)
    for kind, block in OTHER_WORDS.items()
    for line in block.strip().splitlines()
    for message in line.split("|")
]


@pytest.mark.parametrize(("message", "kind"), OTHER)
def test_small_talk_in_other_words(message: str, kind: SmallTalk) -> None:
    assert recognise(message, "Marea", lambda word: False).kind == kind


@pytest.mark.parametrize(
    "message",
    [
        "hello Flutter", "how are you built", "cómo estás hecho", "hola, qué es Faro",
        "thanks for the guide to Faro", "who made the clothes shop", "who did you train",
        "do you build chatbots?", "which language model do you use", "how do you work with clients",
        "what do you charge", "nice projects", "is there a machine in the museum",
        "quién te hizo la web", "gracias a quién se hizo", "are you a bot or do you sell shoes",
        "bye bye bug", "can you help me with Go", "puedes ayudarme con mi web",
        "en qué idiomas está la guía",
    ],
)  # fmt: skip
def test_one_word_of_the_site_makes_it_a_question(message: str) -> None:
    """No word but those of small talk may be in it, whatever the site holds."""
    assert recognise(message, "Marea", lambda word: False).kind is None


def test_a_word_that_the_site_holds_is_not_mistyped_and_greets_nobody() -> None:
    assert recognise("grcias", "Marea", {"grcias"}.__contains__).kind is None
    assert recognise("hola trama", "Marea", lambda word: False).kind == "greeting"
    assert recognise("hola trama", "Marea", {"trama"}.__contains__).kind is None


def test_a_site_that_tells_who_speaks_what_answers_that_itself() -> None:
    asked = "Which languages do you speak?"
    assert recognise(asked, "Marea", lambda word: False).kind == "identity"
    assert recognise(asked, "Marea", {"c1"}.__contains__).kind is None
    assert (
        recognise("In which languages can I ask?", "Marea", {"c1"}.__contains__).kind == "identity"
    )


def test_a_message_of_one_endless_word_takes_no_memory() -> None:
    assert recognise("grcias" * 300, "Marea", lambda word: False).kind is None
