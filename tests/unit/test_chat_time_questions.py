"""Questions about time and work, however they are put; and those that only look like it."""

from __future__ import annotations

import re
import time

import pytest

from bot.chat.time_questions import time_question

ENGLISH = {
    "how-long": """
        How long did you work at Metrimex?
        How long have you been working at Estudio Marea?
        how long has she been at Metrimex
        How long was she at Banco Orballo?
        How long did Ana work for the agency?
        For how long did they work with Metrimex?
        How many years did you work at Agencia Pistilo?
        How many months did he spend at Teleclínica Norte?
        How much time did you spend at the institute?
        How long did you stay at Banco Orballo?
        How long have you been coding?
        How long have you been a frontend developer?
        How long has Ana been using Go?
        How long was your time at Metrimex?
        How long did the contract with Metrimex last?
        How long have you used Python?
        What was the duration of your job at Metrimex?
    """,
    "since-when": """
        Since when have you worked at Estudio Marea?
        Since when do you use Go?
        When did you start working at Metrimex?
        When did you join Banco Orballo?
        When did she start at the agency?
        Since what year have they been working together?
        When did you start coding?
        When were you hired?
    """,
    "until-when": """
        Until when did you work at Metrimex?
        When did you leave Banco Orballo?
        When did she stop working at the agency?
        Who worked at Banco Orballo and until when?
    """,
    "where": """
        Where have you worked?
        Where has she worked before?
        Where did you work before the studio?
        Where do you work now?
        Where has Ana been employed?
        Who have you worked for?
        What were your previous jobs?
        What was your last job?
        Tell me about your work history
        What is your professional experience?
        Where else have you worked?
    """,
    "which-companies": """
        Which companies have you worked for?
        What companies has she worked with?
        In which firms did you work?
        Who are your former employers?
        List of companies where you have worked
        How many companies have you worked at?
        Names of the companies you worked for
    """,
    "years-of": """
        How many years of experience do you have?
        How many years of Go experience does she have?
        How many years of experience with React do you have?
        How much experience do you have with TypeScript?
        How many years of Python do you have?
        years of experience in accessibility
    """,
}
SPANISH = {
    "how-long": """
        ¿Cuánto tiempo trabajaste en Metrimex?
        ¿Cuánto tiempo llevas trabajando en Estudio Marea?
        ¿Cuánto tiempo estuvo en Banco Orballo?
        cuanto tiempo trabajó Ana en la agencia
        ¿Durante cuánto tiempo trabajasteis con Metrimex?
        ¿Cuántos años trabajaste en Agencia Pistilo?
        ¿Cuántos meses estuviste en Teleclínica Norte?
        ¿Cuánto tiempo lleva Ana en el estudio?
        ¿Cuánto tiempo llevas programando?
        ¿Cuántos años llevas como desarrolladora?
        ¿Cuántos años llevan trabajando juntos?
        ¿Cuánto duró su contrato con Metrimex?
        ¿Cuánto duró tu etapa en el banco?
        ¿Cuánto tiempo has trabajado con Go?
        ¿Cuánto tiempo ha estado en el instituto?
        ¿Por cuánto tiempo trabajó allí?
    """,
    "since-when": """
        ¿Desde cuándo trabajas en Estudio Marea?
        ¿Desde cuándo usas Go?
        ¿Desde cuándo eres programadora?
        ¿Cuándo empezaste a trabajar en Metrimex?
        ¿Cuándo entró en Banco Orballo?
        ¿Cuándo te incorporaste a la agencia?
        ¿En qué año empezó a trabajar en el instituto?
        ¿Desde qué año trabajáis juntos?
    """,
    "until-when": """
        ¿Hasta cuándo trabajaste en Metrimex?
        ¿Cuándo dejaste Banco Orballo?
        ¿Cuándo dejó de trabajar en la agencia?
        ¿Quién trabajó en Banco Orballo y hasta cuándo?
    """,
    "where": """
        ¿Dónde has trabajado?
        ¿Dónde ha trabajado antes?
        ¿Dónde trabajaste antes del estudio?
        ¿Dónde trabajas ahora?
        ¿Para quién has trabajado?
        ¿Cuáles fueron tus trabajos anteriores?
        ¿Cuál fue tu último empleo?
        Cuéntame tu trayectoria profesional
        ¿Cuál es tu experiencia laboral?
        ¿En qué sitios ha trabajado Ana?
    """,
    "which-companies": """
        ¿En qué empresas has trabajado?
        ¿en qué empresas?
        ¿Para qué empresas ha trabajado?
        ¿Con qué empresas habéis trabajado?
        ¿En cuántas empresas has estado?
        ¿Para qué empresa de contadores de agua trabajasteis?
        ¿Cuáles son las empresas en las que has trabajado?
        Dime los nombres de las empresas
    """,
    "years-of": """
        ¿Cuántos años de experiencia tienes?
        ¿Cuántos años de experiencia tiene con React?
        ¿Cuánta experiencia tienes en accesibilidad?
        ¿Cuántos años tienes de experiencia?
        ¿Cuántos años de Go tienes?
        ¿Cuántos años de Python?
        años de experiencia con TypeScript
    """,
}
EDUCATION = """
    Where did you study?
    Which university did she go to college at or study?
    How long did you study?
    When did you graduate?
    ¿Dónde estudiaste?
    ¿Cuánto tiempo estudió física?
    ¿En qué universidad estudiaste?
    ¿Cuándo se graduó?
"""
OTHER = """
    How long do customers have to return a garment?
    How long does Faro keep its logs?
    how long is an accessibility audit
    how long did the bakery app take to bulid
    How long does an answer take?
    How long has the shop been online?
    How long does the battery work?
    How long did the migration last?
    Since when is it open source?
    When did the shop open?
    When was tide map released?
    When does the four-day week start?
    Where do you work from?
    Where does the data come from?
    Where is the studio?
    How does it work?
    Does it work offline?
    Which companies use Contraste?
    What is the first role of the gateway?
    How many years of data does tidecalc need?
    How many years of warranty do I get?
    How old are you?
    Do you have experience with MongoDB?
    How much does it cost?
    Who wrote One Hundred Years of Solitude?
    What is RAG?
    ¿Desde dónde trabajáis?
    ¿Qué días trabajáis?
    ¿Facturáis menos desde que no trabajáis los viernes?
    ¿Cada cuántos años se repite el ciclo de la luna en las mareas?
    ¿Quién escribió Cien años de soledad?
    ¿Cuándo cumple años Espiga Norte?
    ¿Habéis trabajado con MongoDB?
    ¿Cuántos años tienes?
    ¿Cuántos años de garantía da la tienda?
    ¿Cuánto tiempo lleva una auditoría?
    ¿Cuánto tiempo lleva hacer una web?
    ¿Cuánto tarda en responder?
    ¿Cuánto tiempo se guardan los registros?
    ¿Desde cuándo existe la aplicación?
    ¿Cuándo empezó el proyecto?
    ¿Dónde se guardan los datos?
    ¿Dónde está el estudio?
    ¿Qué empresas usan Contraste?
    ¿Cómo trabajáis?
    ¿Cuánto cuesta una web?
    ¿Cuándo salió la versión 2?
    ¿Cuánto tiempo estuvo la web caída?
    hola
"""


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


def asked(table: dict[str, str]) -> list[tuple[str, str]]:
    return [(intent, line) for intent, text in table.items() for line in lines(text)]


@pytest.mark.parametrize(("intent", "question"), [*asked(ENGLISH), *asked(SPANISH)])
def test_questions_about_work_are_understood(intent: str, question: str) -> None:
    found = time_question(question)
    assert found is not None
    assert (found.intent, found.kind) == (intent, "experience")


@pytest.mark.parametrize("question", [line for _, line in asked(ENGLISH | SPANISH)][::3])
def test_case_accents_and_punctuation_do_not_matter(question: str) -> None:
    bare = re.sub(r"[¿?]", "", question).upper()
    assert time_question(bare) == time_question(question)


@pytest.mark.parametrize("question", lines(EDUCATION))
def test_questions_about_studies_want_education(question: str) -> None:
    found = time_question(question)
    assert found is not None
    assert found.kind == "education"


@pytest.mark.parametrize("question", lines(OTHER))
def test_other_questions_are_left_alone(question: str) -> None:
    assert time_question(question) is None


def test_there_are_forty_phrasings_in_each_language() -> None:
    assert len(asked(ENGLISH)) >= 40
    assert len(asked(SPANISH)) >= 40


@pytest.mark.parametrize(
    "unit", ["how long did ", "cuantos anos de ", "where has a ", "empresas que "]
)
def test_a_long_question_takes_no_long_time(unit: str) -> None:
    """Linear patterns: 8,000 characters, the most that may be configured, within any patience."""
    started = time.process_time()
    time_question(unit * (8000 // len(unit)))
    assert time.process_time() - started < 5
