"""Files to documents: encodings, frontmatter, drafts, what is skipped, addresses, languages."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from corpus.model import Document
from corpus.settings import RagSettings
from indexer.decode import BinaryContent, decode_source
from indexer.discover import SourceFile, discover
from indexer.document import parse_entry, read_entries, warn_of_shared_urls
from indexer.errors import ContentFoldersMissing
from indexer.frontmatter import FrontmatterBroken, split_frontmatter
from indexer.metadata import read_metadata
from indexer.report import Findings

NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)


def document(
    text: str | bytes, path: str = "posts/x.md", rag: RagSettings | None = None
) -> Document | None:
    """The document one file becomes; None when it is not published."""
    data = text.encode() if isinstance(text, str) else text
    findings = Findings()
    kind = {"projects": "project", "docs": "doc", "posts": "post"}[path.split("/")[0]]
    source = SourceFile(kind=kind, path=path, data=data)  # type: ignore[arg-type]
    entries = read_entries([source], NOW, findings)
    return parse_entry(entries[0], rag or RagSettings(), findings).document if entries else None


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("frontmatter", ["---\ntitle: Hola\n---\n", "+++\ntitle = 'Hola'\n+++\n"])
def test_frontmatter_is_found_behind_marks_and_any_line_end(
    newline: str, mark: str, frontmatter: str
) -> None:
    """MD-06"""
    text = mark + (frontmatter + "# T\n\ncuerpo").replace("\n", newline)
    split = split_frontmatter(decode_source(text.encode()).text)
    assert split.fields == {"title": "Hola"}
    assert split.body == "# T\n\ncuerpo"


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252", "latin-1"]
)
@pytest.mark.parametrize(
    "text", ["# Año\n\ncafé, niño y «comillas»", "---\ntitle: Mañana\n---\n\nÉl"]
)
def test_text_of_any_common_encoding_is_read_right(encoding: str, text: str) -> None:
    """MD-18"""
    decoded = decode_source(text.encode(encoding))
    assert decoded.text == text
    assert (decoded.warning is None) == encoding.startswith("utf-8")


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff"])
def test_utf_16_of_both_byte_orders_is_read(mark: bytes) -> None:
    """MD-18"""
    encoding = "utf-16-le" if mark == b"\xff\xfe" else "utf-16-be"
    assert decode_source(mark + "# Año".encode(encoding)).text == "# Año"


def test_one_bad_byte_does_not_spoil_the_good_ones() -> None:
    """MD-18: the whole file as Windows-1252 would read «aÃ±o»."""
    assert decode_source("año bueno, ".encode() + b"a\xf1o malo").text == "año bueno, año malo"


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n\x00\x00", b"\xff\xd8\xff\xe0abc", b"GIF89a", b"%PDF-1.7\n", b"PK\x03\x04zip",
        b"text\x00with NUL", "# A".encode("utf-16-le"), b"\xff\xfe\xd8", bytes(range(1, 32)) * 9 + b"\xff",
    ],
)  # fmt: skip
def test_binary_files_are_told_apart(data: bytes) -> None:
    """MD-18"""
    with pytest.raises(BinaryContent):
        decode_source(data)


def test_hidden_characters_do_not_get_in() -> None:
    assert decode_source("a\u200bb\u202ec\u00ad\U000e0041".encode()).text == "abc"
    assert decode_source("e\u0301".encode()).text == "é"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("---\ntitle: a: b\n---\nx", 2),
        ('---\nlang: es\ntitle: "sin cerrar\n---\nx', 3),
        ("---\ntitle: x\ntags: [a, b\n---\nx", 4),
        ("---\ntitle: x\nsin cierre\n\n# A", 1),
        ("+++\ntitle = hola\n+++\nx", 2),
        ("+++\nlang = 'es'\ntitle = \n+++\nx", 3),
        ("+++\ntitle = 'x'\n\n# A", 1),
        ("---\n\ttitle: x\n---\nx", 2),
        ("---\ntitle: " + "[" * 1000 + "\n---\nx", 2),
    ],
)
def test_broken_frontmatter_is_named_with_its_line(text: str, line: int) -> None:
    with pytest.raises(FrontmatterBroken) as caught:
        split_frontmatter(text)
    assert caught.value.line in (line, line + 1)
    findings = Findings()
    assert (
        read_entries([SourceFile(kind="doc", path="docs/a.md", data=text.encode())], NOW, findings)
        == []
    )
    (problem,) = findings.problems
    assert problem.fatal
    assert problem.where.startswith("docs/a.md:")
    assert "\n" not in problem.text


@pytest.mark.parametrize(
    "text",
    [
        "---\n\ntexto\n\n---\n\nmás",
        "---",
        "---\nHola mundo\n---\nx",
        "texto\n---\ntitle: x\n---",
        "+++",
        "",
        "--- \n- a\n- b\n---\n",
    ],
)
def test_a_thematic_break_is_no_frontmatter(text: str) -> None:
    assert split_frontmatter(text).fields == {}
    assert split_frontmatter(text).body == text


@pytest.mark.parametrize(
    "field",
    [
        "draft: true", 'draft: "true"', "draft: yes", "draft: True", "draft: on", "draft: 1", "draft: maybe",
        "published: false", 'published: "no"', "published: off", "unlisted: true",
        "date: 2099-01-01", "pubDate: 2099-01-01T10:00:00Z", 'publishDate: "Jan 5 2099"',
        "date: 2026-06-15T13:00:00+00:00", "published: 2099-01-01",
        "date: 2020-01-01\npublishDate: 2099-01-01",
    ],
)  # fmt: skip
def test_what_the_owner_hides_stays_hidden(field: str) -> None:
    """MD-08"""
    assert document(f"---\ntitle: x\n{field}\n---\ncuerpo") is None


@pytest.mark.parametrize(
    "field", ["draft = true", "published = false", "date = 2099-01-01", "unlisted = true"]
)
def test_drafts_in_toml_stay_hidden(field: str) -> None:
    """MD-08"""
    assert document(f"+++\ntitle = 'x'\n{field}\n+++\ncuerpo") is None


@pytest.mark.parametrize(
    "field",
    [
        "draft: false",
        'draft: "no"',
        "draft:",
        "published: true",
        "published: 2020-01-01",
        "unlisted: false",
        "date: 2026-06-15",
    ],
)
def test_what_is_published_is_shown(field: str) -> None:
    """MD-08"""
    assert document(f"---\ntitle: x\n{field}\n---\ncuerpo") is not None


@pytest.mark.parametrize(
    ("written", "title"),
    [("404", "404"), ("1.10", "1.10"), ("2024-05-01", "2024-05-01"), ("No", "No"), ('"a: b"', "a: b"),
     ("null", "X"), ("", "X"), (">-\n  dos\n  líneas", "dos líneas"), ("[a, b]", "X")],
)  # fmt: skip
def test_titles_stay_as_they_were_written(written: str, title: str) -> None:
    found = document(f"---\ntitle: {written}\nlang: es\n---\ncuerpo")
    assert found is not None
    assert found.title == title


@pytest.mark.parametrize(
    ("field", "tags"),
    [("tags: [a, b, a]", ("a", "b")), ("tags: a, b c", ("a", "b c")),
     ("tags:\n  - 2024\n  - true", ("2024", "true")),
     ("tags:", ()), ("tags: {a: b}", ("a",)), ("other: 1", ())],
)  # fmt: skip
def test_tags_may_be_text_or_list(field: str, tags: tuple[str, ...]) -> None:
    assert read_metadata(split_frontmatter(f"---\n{field}\n---\n").fields, NOW).tags == tags


@pytest.mark.parametrize(
    ("written", "iso"),
    [("2024-03-05", "2024-03-05"), ("2024-3-5", "2024-03-05"), ("2024-03-05T10:00:00Z", "2024-03-05"),
     ("2024-03-05 10:00:00", "2024-03-05"), ("Mar 5 2024", "2024-03-05"), ("5 March 2024", "2024-03-05"),
     ("March 5, 2024", "2024-03-05"), ("05/03/2024", "2024-03-05"), ("2024-02-31", None), ("pronto", None)],
)  # fmt: skip
def test_dates_of_any_common_form_become_iso(written: str, iso: str | None) -> None:
    metadata = read_metadata({"date": written}, NOW)
    assert metadata.date == iso
    assert bool(metadata.warnings) == (iso is None)


@pytest.mark.parametrize(
    ("text", "path", "lang"),
    [
        ("---\nlang: es\n---\nhello there friend", "posts/x.md", "es"),
        ("---\nlang: es-ES\n---\nhello", "posts/x.md", "es"),
        ("---\nlanguage: English\n---\nhola qué tal", "posts/x.md", "en"),
        ("hola", "posts/x.en.md", "en"),
        ("hello", "posts/es/x.md", "es"),
        ("hello", "posts/x.es-MX.mdx", "es"),
        ("El proyecto usa una base de datos y los clientes pagan con tarjeta.", "posts/x.md", "es"),
        ("The project uses a database and the customers pay with a card.", "posts/x.md", "en"),
        ("404", "posts/x.md", "en"),
        ("---\nlang: fr\n---\nEl proyecto es para la tienda", "posts/x.md", "es"),
    ],
)
def test_language_comes_from_frontmatter_then_name_then_text(
    text: str, path: str, lang: str
) -> None:
    found = document(text, path)
    assert found is not None
    assert found.lang == lang


@pytest.mark.parametrize(
    ("path", "front", "url"),
    [
        ("projects/rony-tui.md", "", "/projects/rony-tui"),
        ("docs/cv.mdx", "", "/cv"),
        ("posts/a/b/deep.md", "", "/posts/deep"),
        ("posts/mi-post/index.md", "", "/posts/mi-post"),
        ("docs/index.md", "", "/"),
        ("posts/hola.es.md", "", "/posts/hola"),
        ("posts/año nuevo.md", "", "/posts/a%C3%B1o%20nuevo"),
        ("posts/x.md", "slug: otro", "/posts/otro"),
        ("posts/x.md", "url: /contacto/", "/contacto/"),
        ("posts/x.md", "url: https://otra.example/x", "https://otra.example/x"),
        ("posts/x.md", "url: javascript:alert(1)", "/posts/x"),
        ("posts/x.md", "url: //evil.example", "/posts/x"),
    ],
)
def test_addresses_follow_the_templates_unless_overridden(path: str, front: str, url: str) -> None:
    for site in ("", "https://site.example"):
        found = document(f"---\ntitle: x\n{front}\n---\nhi", path, RagSettings(site_url=site))
        assert found is not None
        assert found.url == (url if url.startswith("https:") else site + url)


def test_title_falls_back_to_heading_then_file_name() -> None:
    for text, path, title in [
        ("# Mi *título*\n\nx", "posts/a.md", "Mi título"),
        ("sin título", "posts/mi-primer_post.md", "Mi primer post"),
        ("x", "posts/2024-01-02-hola.md", "Hola"),
        ("x", "posts/hola-mundo/index.md", "Hola mundo"),
    ]:
        found = document(text, path)
        assert found is not None
        assert found.title == title


def test_a_date_in_the_file_name_counts() -> None:
    found = document("x", "posts/2024-01-02-hola.md")
    assert found is not None
    assert found.date == "2024-01-02"


@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbf", b"  \n\n", b"---\nlang: es\n---\n"])
def test_files_without_text_and_title_are_skipped(data: bytes) -> None:
    """MD-17"""
    assert document(data) is None


def test_a_project_of_frontmatter_only_is_still_in_the_catalogue() -> None:
    """MD-17"""
    found = document("---\ntitle: Solo datos\n---\n", "projects/solo.md")
    assert found is not None
    assert found.title == "Solo datos"


def test_two_documents_at_one_address_are_told() -> None:
    findings = Findings()
    first, second = document("x", "posts/a.md"), document("y", "posts/a.mdx")
    assert first
    assert second
    warn_of_shared_urls([first, second], findings)
    assert [problem.where for problem in findings.problems] == ["posts/a.mdx"]


def folders(tmp_path: Path, files: dict[str, bytes]) -> RagSettings:
    for name in ("projects", "docs", "posts"):
        (tmp_path / name).mkdir(exist_ok=True)
    for name, data in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return RagSettings(
        data_path=str(tmp_path / "projects"),
        docs_path=str(tmp_path / "docs"),
        posts_path=str(tmp_path / "posts"),
    )


def found_paths(rag: RagSettings, findings: Findings | None = None) -> list[str]:
    return [source.path for source in discover(rag, findings or Findings())]


def test_readmes_and_hidden_files_are_skipped_in_any_case(tmp_path: Path) -> None:
    names = ["README.md", "readme.md", "Readme.MDX", "README.es.md", ".oculto.md", ".git/a.md",
             "node_modules/a.md", "_drafts/a.md", "a.txt", "a.md.bak", "sub/README.md"]  # fmt: skip
    rag = folders(tmp_path, {f"projects/{name}": b"x" for name in names} | {"projects/ok.md": b"x"})
    findings = Findings()
    assert found_paths(rag, findings) == ["projects/ok.md"]
    assert findings.skipped["readme"] == 5


def test_mdx_and_folders_below_are_found_in_a_fixed_order(tmp_path: Path) -> None:
    names = [
        "docs/cv.mdx",
        "docs/b.MD",
        "projects/z/a.md",
        "projects/b.md",
        "posts/2024/01/x.mdx",
        "docs/a.md",
    ]
    rag = folders(tmp_path, dict.fromkeys(names, b"x"))
    assert found_paths(rag) == [
        "projects/b.md", "projects/z/a.md", "docs/a.md", "docs/b.MD", "docs/cv.mdx", "posts/2024/01/x.mdx",
    ]  # fmt: skip


def test_links_never_lead_out_nor_round_in_circles(tmp_path: Path) -> None:
    rag = folders(
        tmp_path, {"projects/a.md": b"x", "secret.md": b"secret", "projects/sub/b.md": b"x"}
    )
    projects = tmp_path / "projects"
    (projects / "out.md").symlink_to(tmp_path / "secret.md")
    (projects / "loop").symlink_to(projects)
    (projects / "self.md").symlink_to(projects / "self.md")
    (projects / "gone.md").symlink_to(projects / "nothing.md")
    (projects / "again.md").symlink_to(projects / "sub" / "b.md")
    findings = Findings()
    assert found_paths(rag, findings) == ["projects/a.md", "projects/again.md"]
    assert {p.where for p in findings.problems} >= {
        "projects/out.md",
        "projects/loop",
        "projects/self.md",
    }


def test_files_linked_as_kubernetes_mounts_them_are_found(tmp_path: Path) -> None:
    """A config map is a folder of links into a hidden folder beside them."""
    rag = folders(tmp_path, {"docs/..2026/a.md": b"x"})
    (tmp_path / "docs" / "..data").symlink_to("..2026")
    (tmp_path / "docs" / "a.md").symlink_to("..data/a.md")
    assert found_paths(rag) == ["docs/a.md"]


def test_a_folder_inside_another_is_read_once(tmp_path: Path) -> None:
    rag = folders(tmp_path, {"docs/a.md": b"x", "posts/b.md": b"x"})
    rag = RagSettings(data_path=str(tmp_path), docs_path=rag.docs_path, posts_path=rag.posts_path)
    assert found_paths(rag) == ["docs/a.md", "posts/b.md"]


def test_pipes_and_huge_files_are_skipped(tmp_path: Path) -> None:
    rag = folders(tmp_path, {"docs/huge.md": b"x" * (4 << 20) + b"y", "docs/ok.md": b"x"})
    os.mkfifo(tmp_path / "docs" / "pipe.md")
    findings = Findings()
    assert found_paths(rag, findings) == ["docs/ok.md"]
    assert findings.skipped == {"too-large": 1, "special": 1}


def test_an_unreadable_file_is_named_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rag = folders(tmp_path, {"docs/a.md": b"x", "docs/b.md": b"x"})
    read = Path.read_bytes

    def refuse(path: Path) -> bytes:
        if path.name == "a.md":
            raise PermissionError(13, "Permission denied", str(path))
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    findings = Findings()
    assert found_paths(rag, findings) == ["docs/b.md"]
    (problem,) = findings.problems
    assert problem.fatal
    assert problem.where == "docs/a.md"


def test_a_missing_folder_is_a_warning_and_all_missing_an_error(tmp_path: Path) -> None:
    rag = folders(tmp_path, {"docs/a.md": b"x"})
    (tmp_path / "posts").rmdir()
    findings = Findings()
    assert found_paths(rag, findings) == ["docs/a.md"]
    assert [problem.where for problem in findings.problems] == ["rag.posts_path"]
    nowhere = str(tmp_path / "no")
    with pytest.raises(
        ContentFoldersMissing, match=r"rag\.data_path.*rag\.docs_path.*rag\.posts_path"
    ):
        discover(RagSettings(data_path=nowhere, docs_path=nowhere, posts_path=nowhere), Findings())


def test_names_that_are_no_unicode_do_not_stop_the_run(tmp_path: Path) -> None:
    rag = folders(tmp_path, {"docs/a.md": b"x"})
    Path(os.fsdecode(os.fsencode(tmp_path / "docs") + b"/b\xff.md")).write_bytes(b"x")
    assert found_paths(rag)[0] == "docs/a.md"
    assert all(path.isprintable() or "\ufffd" in path for path in found_paths(rag))
