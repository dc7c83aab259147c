"""Headings, titles, anchors and blocks of Markdown and MDX, kind by kind of the field cases."""

from __future__ import annotations

import pytest

from indexer.sections import Outline, outline


def parsed(body: str, title: str = "Doc", *, mdx: bool = False) -> Outline:
    return outline(body, title, mdx=mdx)


def paths(body: str, title: str = "Doc", *, mdx: bool = False) -> list[str]:
    return [" / ".join(section.path) for section in parsed(body, title, mdx=mdx).sections]


def text_of(body: str, title: str = "Doc", *, mdx: bool = False) -> str:
    sections = parsed(body, title, mdx=mdx).sections
    return "\n\n".join(block.text for section in sections for block in section.blocks)


@pytest.mark.parametrize(
    "code",
    [
        "```py\n# not a heading\nx = 1\n```",
        "~~~\n# not a heading\nx = 1\n~~~",
        '~~~~sh title="a b"\n# not a heading\n~~~\nx = 1\n~~~~',
        "    # not a heading\n    x = 1",
        "1. step\n\n   ```sh\n   # not a heading\n   x = 1\n   ```",
        "> ```sh\n> # not a heading\n> x = 1\n> ```",
        "<pre>\n# not a heading\nx = 1\n</pre>",
        "```\n# not a heading\nx = 1",
    ],
)
def test_comments_in_code_open_no_section(code: str) -> None:
    """MD-01: fences of both kinds, indented, in lists and quotes, HTML, and never closed."""
    body = f"# A\n\nintro\n\n{code}\n"
    assert paths(body) == ["A"]
    text = text_of(body)
    assert "intro" in text
    assert "# not a heading" in text
    assert "x = 1" in text


def test_text_after_code_is_kept() -> None:
    """MD-01: the original input, where everything around the comment was thrown away."""
    for fence in ("```", "~~~"):
        body = f"# A\nintro\n{fence}py\n# not a heading\nx=1\n{fence}\nfin"
        (section,) = parsed(body).sections
        assert [block.text for block in section.blocks] == [
            "intro",
            f"{fence}py\n# not a heading\nx=1\n{fence}",
            "fin",
        ]


@pytest.mark.parametrize(
    ("outer", "inner"),
    [("````", "```"), ("`````", "````"), ("~~~~", "~~~"), ("~~~", "```"), ("```", "~~~")],
)
def test_a_longer_fence_holds_a_shorter_one(outer: str, inner: str) -> None:
    """MD-03: one code block, then section B."""
    body = f"## A\n\n{outer}md\n{inner}\n# in\n{inner}\n{outer}\n### B\nafter"
    assert paths(body) == ["A", "A / B"]
    (code,) = parsed(body).sections[0].blocks
    assert code.text == f"{outer}md\n{inner}\n# in\n{inner}\n{outer}"


def test_the_one_h1_over_the_sections_is_the_title_in_longer_words() -> None:
    """It would stand in every path; its words stay searchable at the top."""
    body = "# Doc, told at length\n\nintro\n\n## A\n\na\n\n### B\n\nb"
    assert paths(body) == ["", "A", "A / B"]
    assert "Doc, told at length" in text_of(body)
    assert paths("# One\n\nx\n\n# Two\n\ny") == ["One", "Two"]
    assert paths("intro\n\n## A\n\na\n\n# Late\n\nb") == ["", "A", "Late"]


def test_accidental_setext_heading_keeps_its_text() -> None:
    """MD-04: a heading by the specification; several lines become one title."""
    assert paths("linea uno\nlinea dos\n---\nmás") == ["linea uno linea dos"]
    assert paths("texto normal\n---\nmás") == ["texto normal"]


def test_a_paragraph_made_heading_is_capped_but_not_lost() -> None:
    """MD-04: no breadcrumb of 300 characters, no lost word."""
    long = " ".join(f"palabra{number}" for number in range(60))
    (section,) = parsed(f"{long}\n---\nfin").sections
    assert len(section.path[0]) <= 120
    assert section.path[0].endswith("…")
    assert [block.text for block in section.blocks] == [long, "fin"]


@pytest.mark.parametrize("body", ["![una foto](a.png)\n---\nmás", "# ![una foto](a.png)\n\nmás"])
def test_a_heading_of_an_image_only_is_no_section(body: str) -> None:
    """MD-04: its description stays as text."""
    assert paths(body) == [""]
    assert "una foto" in text_of(body)


@pytest.mark.parametrize(
    ("heading", "title", "anchor"),
    [
        (
            "## Usar `npm run` con [Astro](https://a.b) 🚀",
            "Usar npm run con Astro 🚀",
            "usar-npm-run-con-astro-",
        ),
        ("## L'été d'Ana", "L'été d'Ana", "lété-dana"),
        ("## `only-code`", "only-code", "only-code"),
        ("## *Very* **bold** ~~old~~", "Very bold old", "very-bold-old"),
        ("## C++ & C#", "C++ & C#", "c--c"),
        ("## A &amp; B", "A & B", "a--b"),
        ("## Título <em>raro</em> <!-- oculto -->", "Título raro", "título-raro"),
        ("## Con ancla {#mi-ancla}", "Con ancla", "mi-ancla"),
        ("## snake_case y guión-bajo", "snake_case y guión-bajo", "snake_case-y-guión-bajo"),
        ("Setext `x`\n---", "Setext x", "setext-x"),
    ],
)
def test_titles_are_plain_and_anchors_are_the_sites(heading: str, title: str, anchor: str) -> None:
    """MD-13"""
    (section,) = parsed(f"{heading}\n\ncuerpo").sections
    assert section.path == (title,)
    assert section.anchor == anchor


def test_repeated_headings_get_numbered_anchors() -> None:
    """MD-13: as GitHub's slugger, also where a heading already ends in a number, at any depth."""
    body = "## A\nx\n\n## A\nx\n\n> ## A\n> q\n\n## A-1\nx\n\n## A\nx"
    assert [section.anchor for section in parsed(body).sections] == ["a", "a-1", "a-1-1", "a-3"]


@pytest.mark.parametrize("empty", ["## ##", "##", "## <!-- x -->", "## {#id}"])
def test_an_empty_heading_joins_the_section_before(empty: str) -> None:
    """MD-13"""
    assert paths(f"## A\n\nuno\n\n{empty}\n\ndos") == ["A"]


def test_a_heading_is_not_repeated_in_its_own_text() -> None:
    """MD-13, and the title of the page is not a step of the path."""
    (section,) = parsed("# Doc\n\n## Sub\n\ncuerpo").sections
    assert section.path == ("Sub",)
    assert [block.text for block in section.blocks] == ["cuerpo"]


def test_text_before_the_first_heading_is_a_section_without_name() -> None:
    """MD-17"""
    body = "Intro sin título\n\n# A\nx"
    assert paths(body) == ["", "A"]
    assert "Intro sin título" in text_of(body)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("sin encabezados\n\ndos párrafos", [""]),
        ("### Tres\na\n\n# Uno\nb\n\n### Otro\nc", ["Tres", "Uno", "Uno / Otro"]),
        ("## A\na\n\n#### B\nb\n\n### C\nc\n\n## D\nd", ["A", "A / B", "A / C", "D"]),
        ("## Solo\n### Dentro\ntexto", ["Solo / Dentro"]),
    ],
)
def test_any_order_of_levels_gives_sound_paths(body: str, expected: list[str]) -> None:
    """MD-17"""
    assert paths(body) == expected


def test_headings_without_body_become_lines_of_their_parent() -> None:
    """MD-17, MD-04: no empty section, and the words stay findable."""
    (section,) = parsed("## Certificados\n\n### AWS 2023\n\n### GCP 2024").sections
    assert section.path == ("Certificados",)
    assert [block.text for block in section.blocks] == ["AWS 2023", "GCP 2024"]


@pytest.mark.parametrize(
    "body",
    [
        "#Título\n\ntexto",
        "#\u00a0Título\n\ntexto",
        "> ## Título\n> texto",
        "- ## Título\n- texto",
        "\\# Título\n\ntexto",
    ],
)
def test_only_level_0_headings_open_sections(body: str) -> None:
    """MD-20"""
    assert paths(body) == [""]
    assert "Título" in text_of(body)


@pytest.mark.parametrize(
    "math",
    [
        "$$\na\n---\nb\n$$",
        "$$ a\n---\nb $$",
        "$$\n# a\n\n---\nb\n$$",
        "$$\na\n===\nb\n$$",
        "  $$\n  a\n  ---\n  b\n  $$",
    ],
)
def test_math_is_not_parsed_as_markdown(math: str) -> None:
    """MD-20"""
    body = f"antes\n\n{math}\n\ndespués"
    assert paths(body) == [""]
    text = text_of(body)
    assert "$$\n" in text
    assert "a" in text
    assert "después" in text


def test_two_dollar_signs_in_a_shell_text_swallow_nothing() -> None:
    """MD-20: what never closes is no formula."""
    assert paths("$$ is the process id\n\n## B\ntexto") == ["", "B"]


@pytest.mark.parametrize(
    "comment",
    [
        "<!--\n## Precios secretos\n100 EUR\n-->",
        "<!-- secretos 100 EUR -->",
        "Visible <!-- secretos 100 EUR --> aún",
        "Visible <!-- secretos\n\n## 100 EUR\n\n-->",
        "- punto <!-- secretos 100 EUR -->",
        "<div><!-- secretos 100 EUR --></div>",
        "{% comment %}\n## secretos\n100 EUR\n{% endcomment %}",
        "<!--\n```\nsecretos 100 EUR\n```\n-->",
    ],
)
@pytest.mark.parametrize("mdx", [False, True])
def test_comments_reach_nothing(comment: str, mdx: bool) -> None:
    """MD-09"""
    body = f"Visible\n\n{comment}\n\n# B\n\nfin"
    text = text_of(body, mdx=mdx)
    assert "secretos" not in text
    assert "100 EUR" not in text
    assert paths(body, mdx=mdx) == ["", "B"]
    assert "Visible" in text
    assert "fin" in text


def test_an_unclosed_comment_hides_the_rest_as_browsers_do() -> None:
    """MD-09"""
    assert text_of("Visible\n\n<!-- secretos\n\n## B\n\nfin") == "Visible"


@pytest.mark.parametrize(
    "code", ["```html\n<!-- kept -->\n```", "`<!-- kept -->`", "    <!-- kept -->"]
)
def test_comments_in_code_are_text(code: str) -> None:
    """MD-09"""
    assert "<!-- kept -->" in text_of(f"uno\n\n{code}\n\ndos")


@pytest.mark.parametrize(
    "directive",
    [
        "{% include tabs %}", "{% endcapture %}", "{{ site.title }}", "{{< youtube id >}}",
        "{{% notice tip %}}", "{{< figure src=\"a.png\" caption=\"x > y\" >}}", "{%- if a_b_c -%}",
        "{{ page.title\n | upcase }}", "{# jinja #}",
    ],
)  # fmt: skip
def test_template_directives_are_dropped_outside_code(directive: str) -> None:
    """ING-06"""
    text = text_of(f"{directive}\nnpm i x\n{{% endcapture %}}\n\nfin")
    assert text == "npm i x\n\nfin"
    for code in (f"```liquid\n{directive}\n```", f"`{directive}`" if "\n" not in directive else ""):
        assert code in text_of(f"uno\n\n{code}\n\ndos")


MDX_SAMPLE = """import A from "./a"
import {
  B,
} from "b"

export const m = {
  a: 1,

  b: "# no",
}

# T
<Chart code="a --> b" />
```js
import x from "y"
```
"""


def test_mdx_statements_go_and_code_stays() -> None:
    """MD-10: the original input."""
    body = parsed(MDX_SAMPLE, "T", mdx=True)
    assert [block.text for section in body.sections for block in section.blocks] == [
        '```js\nimport x from "y"\n```'
    ]


@pytest.mark.parametrize(
    "statement",
    [
        'import A from "a"',
        "import 'side-effect'",
        'import A, { B } from "a"; // why',
        'import * as C from "c"',
        "export default Layout",
        "export const f = (a) => {\n  if (a) { return `x ${a} } y` }\n\n  return '}'\n}",
        "export function F() {\n  return (\n    <div>\n      <p>It's fine</p>\n\n    </div>\n  )\n}",
        "export const title = 'uno',\n  other = 2",
        "export const a =\n  [1, 2]\n    .map((x) => x)",
        'export { x } from "y"',
        "export const meta = {\n  /* } */\n  // }\n\n  t: 'leak',\n}",
    ],
)
def test_every_kind_of_statement_is_dropped(statement: str) -> None:
    """MD-10"""
    for after in ("\n\n", "\n"):
        text = text_of(f"{statement}{after}# T\n\nfin", "T", mdx=True)
        assert text == "fin"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('<Chart code="a --> b" /> resto', "resto"),
        ("<Chart data={{ a: '>' , b: [1, 2] }} />\n\nresto", "resto"),
        ("<Chart fn={() => <b>no</b>} />\n\nresto", "resto"),
        ("<Note>texto</Note>", "texto"),
        ("<>texto</>", "texto"),
        ("<UI.Card.Body\n  title='x > y'\n>\n\ntexto\n\n</UI.Card.Body>", "texto"),
        ("uno {/* # no */} dos", "uno dos"),
        ("{/* uno\n# no */}\n\ntexto", "texto"),
        ("hay {count} y {' '}más", "hay y más"),
        ("versión {`2`} de {2026}", "versión 2 de 2026"),
        ("a < b y 3 > 2", "a < b y 3 > 2"),
        ("<https://example.com/a>", "https://example.com/a"),
        ("un \\{ literal \\< aquí", "un { literal < aquí"),
        ('<Image src="a.png" alt="una ría" />', "una ría"),
        ("uno<br/>dos", "uno\ndos"),
        ("<ul><li>uno</li><li>dos</li></ul>", "uno dos"),
        ("con `<Code x={1}>` y ``{`x`}`` dentro", "con `<Code x={1}>` y ``{`x`}`` dentro"),
        ("prosa que\nimport nothing here", "prosa que\nimport nothing here"),
    ],
)
def test_jsx_goes_and_prose_stays(source: str, expected: str) -> None:
    """MD-10"""
    assert " ".join(text_of(source, mdx=True).split(" ")).replace("  ", " ") == expected


@pytest.mark.parametrize(
    "source",
    [
        "<Tabs>\n\n    ## Dentro\n    texto\n\n</Tabs>",
        "<Card>\n  ## Dentro\n  texto\n</Card>",
        "<Tabs>\n  <Tab label='a'>\n      ## Dentro\n      texto\n  </Tab>\n</Tabs>",
        "<Card>\n\t## Dentro\n\ttexto\n</Card>",
        "<Steps>\n\n        ## Dentro\n\n        texto\n</Steps>",
    ],
)
def test_markdown_inside_components_is_markdown(source: str) -> None:
    """MD-11"""
    assert paths(source, mdx=True) == ["Dentro"]
    assert text_of(source, mdx=True) == "texto"


def test_a_fence_inside_a_component_stays_a_fence() -> None:
    """MD-11, MD-10"""
    source = "<Tab>\n    ```js\n    import a from '<b>'\n      if (x) {}\n    ```\n</Tab>"
    assert text_of(source, mdx=True) == "```js\nimport a from '<b>'\n  if (x) {}\n```"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("Un [enlace](https://a.b/c) aquí", "Un enlace aquí"),
        ("Ver [texto][ref].\n\n[ref]: https://a.b", "Ver texto."),
        ("<https://a.b/c>", "https://a.b/c"),
        ("![una foto](a.png)", "una foto"),
        ("[![logo](l.png)](https://a.b)", "logo"),
        ("[Escríbenos](mailto:hola@example.com)", "Escríbenos (hola@example.com)"),
        ("[hola@example.com](mailto:hola@example.com?subject=x)", "hola@example.com"),
        ("Nota[^1].\n\n[^1]: https://a.b", "Nota[^1].\n\n[^1]: https://a.b"),
        ("<b>uno</b> dos<br>tres", "uno dos\ntres"),
        ("<details>\n<summary>Más</summary>\nuno &amp; dos\n</details>", "Más\n\nuno & dos"),
        ("<script>alert(1)</script>\n\ntexto", "texto"),
        ("<td>a</td><td>b</td>", "a  b"),
        ("**a** *b* ~~c~~ `d`", "**a** *b* ~~c~~ `d`"),
    ],
)
def test_text_is_what_a_reader_sees(source: str, expected: str) -> None:
    assert text_of(source) == expected


def test_deep_nesting_loses_nothing() -> None:
    """markdown-it's commonmark preset drops text below its nesting limit of 20."""
    body = "\n".join("  " * depth + f"- nivel{depth}" for depth in range(30))
    assert all(f"nivel{depth}" in text_of(body) for depth in range(30))


def test_the_first_h1_names_a_document_without_title() -> None:
    assert parsed("intro\n\n# Mi *título*\n\nx", "").title == "Mi título"
    assert parsed("## No\n\nx", "").title == ""


def test_a_long_title_with_nothing_under_it_is_no_passage_of_its_own() -> None:
    """It would say nothing and match every question about the page."""
    assert paths("# Doc, told at length\n\n## A\n\na\n\n## B\n\nb") == ["A", "B"]
    assert parsed("# Doc, told at length\n\n## A\n\na\n\n## B\n\nb").sections[0].blocks[0].text == (
        "Doc, told at length"
    )
    above = parsed("before\n\n# Doc, told at length\n\n## A\n\na")
    assert [block.text for block in above.sections[0].blocks] == ["before", "Doc, told at length"]
