"""Answers as small models write them, over the sample site: what stands there passes, inventions stop."""

from __future__ import annotations

import pytest

from bot.chat.guard.guard import Guard
from tests.unit.sample_pages import page

MOST_HELD = 20  # characters, where nothing is quoted

# Right answers, in the page's language and in the other.
RIGHT = [
    ("docs/cv", "The backend half worked at Banco Orballo from March 2018 to December 2020 [1]."),
    (
        "docs/cv",
        "La mitad de backend trabajó en Banco Orballo de marzo de 2018 a diciembre de 2020 [1].",
    ),
    (
        "docs/cv",
        "- **Metrimex**: julio de 2024 a junio de 2026 [1]\n- **Estudio Marea**: desde 2021 "
        "[1]\n- **Banco Orballo**: 2018–2020 [1]",
    ),
    (
        "docs/cv",
        "Ha trabajado en cuatro empresas antes del estudio: Banco Orballo, Agencia Pistilo, "
        "Instituto Hidrográfico del Norte y Teleclínica Norte.",
    ),
    (
        "docs/cv",
        "El servicio compara 4 millones de movimientos por noche en 11 minutos; el antiguo "
        "tardaba seis horas [2].",
    ),
    ("docs/cv", "The service compares 4,000,000 movements in 11 minutes."),
    (
        "docs/cv",
        "Procesa lecturas de 86.000 contadores con Go y TimescaleDB, y avisa de una fuga en 15 minutos.",
    ),
    (
        "docs/cv",
        "Estudió Física en la Universidad de Santiago de Compostela (2014) y Comunicación "
        "Audiovisual en la Universidad de Vigo (2013).",
    ),
    ("docs/cv", "Idiomas: español y gallego nativos, inglés C1, portugués B2."),
    ("docs/cv", "Spanish and Galician are native; English is at C1."),
    ("docs/cv", "Sí, usan Python y NumPy a diario, y Rust cuando hace falta."),
    ("docs/cv", "They use Postgres, SQLite and Docker Compose daily."),
    (
        "docs/cv",
        "The frontend half built the operators' dashboard in React and brought it to WCAG 2.2 AA.",
    ),
    (
        "docs/cv",
        "Creó una biblioteca de componentes usada en 31 sitios y enseñó CSS durante tres años.",
    ),
    ("docs/cv", 'Charlas: "Tides in 48 kilobytes", en un encuentro de Rust en 2023.'),
    (
        "docs/services",
        "The care plan covers four things: security updates within 72 hours, backups, eight "
        "hours of changes and a yearly cleaning [1].",
    ),
    (
        "docs/services",
        "El plan de mantenimiento incluye actualizaciones de seguridad en 72 horas y hasta 8 "
        "horas de cambios al mes [1].",
    ),
    (
        "docs/services",
        "La auditoría dura dos semanas y usa NVDA, VoiceOver y TalkBack; hay una segunda visita "
        "tres meses después.",
    ),
    ("docs/services", "Se puede cancelar con 30 días de preaviso."),
    (
        "docs/services",
        "La construcción dura de seis semanas a seis meses y se entrega cada jueves.",
    ),
    (
        "docs/services",
        "Training: one-day workshops for teams of up to 12 people, in Galicia and northern Portugal.",
    ),
    ("docs/services", "El estudio ofrece cinco servicios."),
    ("docs/contact", "Write to hola@example.com, in Spanish, Galician, English or Portuguese [1]."),
    (
        "docs/contact",
        "Escribe a hola@example.com; contestan en dos días laborables, de lunes a jueves [1].",
    ),
    (
        "docs/contact",
        "Las vulnerabilidades se envían a security@example.com y se confirman en 24 horas.",
    ),
    ("docs/contact", "El código está en https://example.com/git."),
    (
        "docs/about",
        "Estudio Marea son dos personas que trabajan juntas desde 2021, en remoto, desde dos "
        "aldeas de Galicia [1].",
    ),
    (
        "docs/about",
        "Se conocieron en 2019 como voluntarias; dieciocho meses después fundaron el estudio.",
    ),
    ("docs/about", "Trabajan cuatro días por semana, de lunes a jueves; los viernes son suyos."),
    ("docs/about", "Usan Go o Python, Astro y CSS, y SQLite hasta que duele."),
    ("docs/sobre-nosotros", "Estudio Marea is two people who have worked together since 2021 [1]."),
    (
        "docs/sobre-nosotros",
        "The first conversation lasts one hour, is free and ends with a written summary.",
    ),
    (
        "posts/sqlite-en-produccion",
        "The file is 1.1 GB now, and the service was down for 38 minutes in three years [1].",
    ),
    (
        "posts/sqlite-en-produccion",
        "They use `VACUUM INTO` and Litestream, and restore a copy on the first Monday of each month.",
    ),
    (
        "posts/sqlite-in-production",
        "El fichero ocupa 1,1 gigabytes y el servicio estuvo caído 38 minutos en 3 años [1].",
    ),
    ("posts/sqlite-in-production", "La mediana de una transacción es de 0,4 ms."),
    (
        "posts/sqlite-in-production",
        "Para la tienda de ropa eligieron PostgreSQL porque dos cajas y la web compiten por la misma camisa.",
    ),
    (
        "posts/sqlite-in-production",
        "`PRAGMA busy_timeout = 5000` hace esperar hasta cinco segundos.",
    ),
    (
        "posts/cuatro-dias",
        "In January 2022 they began a trial of twelve weeks, Monday to Thursday [1].",
    ),
    (
        "posts/cuatro-dias",
        "Billed hours fell from 52 to 47 per week, and errors in production from 7 to 3.",
    ),
    ("posts/cuatro-dias", "They billed 10% less and delivered 8.8 tasks a week instead of 9.1."),
    (
        "posts/images-under-100-kb",
        "Las fotos suponían el 80 % del peso de la tienda; ahora ninguna supera los 100 kB.",
    ),
    ("posts/images-under-100-kb", "Se escriben cuatro anchos: 320, 640, 960 y 1440 píxeles."),
    (
        "posts/images-under-100-kb",
        "AVIF tarda 1,4 s por imagen y WebP 0,2 s; la mediana baja de 412 kB a 58 kB.",
    ),
    (
        "posts/streaming-answers-sse",
        "1. **Búfer**: algunos proxies juntan 4 kB.\n2. **Silencio**: se envía `: ping` cada 15 segundos.",
    ),
    ("posts/streaming-answers-sse", "El cliente completo son 60 líneas."),
    (
        "posts/respuestas-en-streaming-sse",
        "They chose server-sent events (SSE) because the conversation goes one way; the question is a POST.",
    ),
    (
        "posts/what-is-rag",
        "RAG busca primero pasajes y después redacta. Con ambas búsquedas acierta el 95 %, "
        "frente al 78 % solo con palabras.",
    ),
    (
        "projects/pan-a-las-siete",
        "Pan a las siete uses Preact, Node.js 20 with Fastify and SQLite, replicated with Litestream.",
    ),
    (
        "projects/pan-a-las-siete",
        "Orders are accepted until 21:00; at 21:05 each bakery gets its list.",
    ),
    (
        "projects/pan-a-las-siete",
        "It had 1,350 registered customers after the first year, and leftover bread fell by 22 %.",
    ),
    (
        "projects/pan-a-las-siete",
        "It was built from January to April 2022 by both halves of the studio.",
    ),
    ("projects/pan-a-las-siete", "No usa PostgreSQL, sino SQLite [1]."),
    (
        "projects/rony-tui",
        "rony-tui está escrito en Go 1.22 con Bubble Tea y Lip Gloss; ocupa 14 MB y arranca en 40 ms.",
    ),
    (
        "projects/rony-tui",
        "La versión 1.0 salió el 12 de noviembre de 2024; la primera pública, en marzo de 2024.",
    ),
    (
        "projects/rony-tui",
        "Tiene siete herramientas: `list`, `read`, `search`, `patch`, `run`, `test` y `ask`.",
    ),
    (
        "projects/tide-map",
        "Lonja se hizo de mayo a octubre de 2023 para una asociación con 140 barcos.",
    ),
    ("projects/tide-map", "Lonja's server part runs every six hours and writes to Scaleway."),
    (
        "projects/tidecalc",
        "tidecalc tiene doble licencia, MIT o Apache-2.0, y 37 constituyentes; funciona con 64 kB de RAM.",
    ),
    ("projects/tidecalc", "Se publicó en mayo de 2021 y la versión 2.0 en enero de 2024."),
    ("projects/tidecalc", "It is published on crates.io and PyPI."),
]

# What is invented, and what is shown before it.
INVENTED = [
    ("docs/cv", "She worked at Google until 2020.", "Google", "name", "She worked at"),
    ("docs/cv", "Trabajó en Telefónica como ingeniera.", "Telefónica", "name", "Trabajó en"),
    ("docs/cv", "Argentina won the 2022 world cup.", "Argentina", "name", ""),
    ("docs/cv", "The owner is María García.", "María", "name", "The owner is"),
    ("docs/cv", "They know Go and Kubernetes.", "Kubernetes", "technology", "They know Go and"),
    ("docs/cv", "They know go and kubernetes.", "kubernetes", "technology", "They know go and"),
    ("docs/cv", "It took 5 hours.", "5", "number", "It took"),
    ("docs/cv", "Lideró un equipo de doce personas.", "doce", "number", "Lideró un equipo de"),
    ("docs/cv", "Trabajó allí desde abril de 2018.", "abril", "date", "Trabajó allí desde"),
    ("docs/cv", "It reads 86,500 meters.", "86,500", "number", "It reads"),
    (
        "docs/cv",
        "Tiene un máster por la Universidad de Oxford.",
        "Oxford",
        "name",
        "Tiene un máster por la Universidad de",
    ),
    ("docs/cv", "They used Java and React.", "Java", "technology", "They used"),
    ("docs/contact", "Write to juan@example.com.", "juan@example.com", "address", "Write to juan"),
    ("docs/contact", "Llama al +34 600 123 456.", "34", "number", None),
    (
        "docs/contact",
        "See https://evil.example.org/x for more.",
        "https://evil.example.org/x",
        "address",
        None,
    ),
    ("docs/contact", "It is on LinkedIn.", "LinkedIn", "technology", "It is on"),
    ("docs/contact", "Contestan el mismo sábado.", "sábado", "date", "Contestan el mismo"),
    ("docs/services", "An audit costs 2,000 €.", "2,000", "number", "An audit costs"),
    ("docs/services", "La auditoría dura dos meses.", "dos", "number", "La auditoría dura"),
    ("docs/services", "Discovery takes 72 days.", "72", "number", "Discovery takes"),
    ("docs/about", "Se conocieron en Madrid en 2019.", "Madrid", "name", "Se conocieron en"),
    ("docs/about", "They met in 2018.", "2018", "number", "They met in"),
    (
        "docs/about",
        "It says: “We never work with banks or lawyers at all”.",
        "We never work with banks or lawyers at all",
        "quotation",
        "It says:",
    ),
    (
        "docs/about",
        "Dice «nunca trabajamos con bancos ni con abogados».",
        "nunca trabajamos con bancos ni con abogados",
        "quotation",
        "Dice",
    ),
    ("posts/sqlite-in-production", "El fichero ocupa 1,1 TB.", "1,1", "number", "El fichero ocupa"),
    ("posts/sqlite-in-production", "It was down 38 hours.", "38", "number", "It was down"),
    (
        "posts/sqlite-in-production",
        "La tienda usa MongoDB.",
        "MongoDB",
        "technology",
        "La tienda usa",
    ),
    ("posts/cuatro-dias", "The trial began in March 2022.", "March", "date", "The trial began in"),
    ("posts/images-under-100-kb", "Usan WebP y JPEG-XL.", "JPEG-XL", "technology", "Usan WebP y"),
    (
        "projects/rony-tui",
        "Tiene 412 pruebas y una cobertura del 93 %.",
        "93",
        "number",
        "Tiene 412 pruebas y una cobertura del",
    ),
    ("projects/rony-tui", "It costs $20.", "20", "number", None),
    ("projects/tidecalc", "Released on 2021-05-14.", "2021-05-14", "date", "Released on"),
    ("projects/tidecalc", "Fernando Alonso uses it.", "Fernando", "name", ""),
    (
        "projects/tidecalc",
        "It was written by Linus Torvalds.",
        "Linus",
        "name",
        "It was written by",
    ),
    ("projects/pan-a-las-siete", "Hay ocho panaderías.", "ocho", "number", "Hay"),
    (
        "projects/pan-a-las-siete",
        "It is hosted at Hetzner.",
        "Hetzner",
        "technology",
        "It is hosted at",
    ),
    ("projects/pan-a-las-siete", "Usa iOS y k8s.", "iOS", "technology", "Usa"),
    ("projects/pan-a-las-siete", "Usa más I/O de disco.", "I/O", "technology", "Usa más"),
]


@pytest.mark.parametrize(("source", "answer"), RIGHT)
def test_a_right_answer_passes_unchanged_and_without_being_held(source: str, answer: str) -> None:
    guard = Guard(page(source), "¿Usa PostgreSQL?")
    shown, longest = "", 0
    for position, char in enumerate(answer, start=1):
        shown += guard.feed(char)
        longest = max(longest, position - len(shown))
    assert shown + guard.close() == answer
    assert guard.stopped is None
    assert longest <= MOST_HELD or any(mark in answer for mark in '«"`/')


@pytest.mark.parametrize(("source", "answer", "text", "kind", "shown"), INVENTED)
def test_an_invented_fact_stops_the_answer(
    source: str, answer: str, text: str, kind: str, shown: str | None
) -> None:
    guard = Guard(page(source), "?")
    released = guard.feed(answer) + guard.close()
    assert guard.stopped is not None
    assert (guard.stopped.text, guard.stopped.kind) == (text, kind)
    assert answer.startswith(released)
    assert text not in released
    if shown is not None:
        assert released == shown
    assert guard.feed(" more") == ""
    assert guard.close() == ""
