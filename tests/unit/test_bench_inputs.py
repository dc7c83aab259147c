"""What benchmarks are fed: a site of a SQuAD file, a model with other weights, times to compare."""

from __future__ import annotations

import json
from pathlib import Path

import gguf
import numpy as np
import pytest

from bench.guard_price import Price, figures
from bench.requantised import requantise
from bench.squad_site import labelled, write_site


@pytest.fixture
def squad(tmp_path: Path) -> Path:
    def paragraph(text: str, *ids: str) -> dict[str, object]:
        answers = [{"text": "1835"}, {"text": "in 1835"}]
        return {
            "context": text,
            "qas": [{"id": each, "question": f"{each}?", "answers": answers} for each in ids],
        }

    articles = [
        {
            "title": "Old_Market",
            "paragraphs": [paragraph("First.", "a", "b"), paragraph("More.", "c")],
        },
        {"title": "Other", "paragraphs": [paragraph("Second.", "d")]},
    ]
    path = tmp_path / "squad.json"
    path.write_text(json.dumps({"data": articles}), "utf-8")
    return path


def test_each_article_is_a_post_with_all_its_paragraphs(squad: Path, tmp_path: Path) -> None:
    site = write_site(squad, tmp_path / "site")
    posts = sorted((site / "posts").iterdir())
    assert [post.read_text("utf-8") for post in posts] == [
        "# Old Market\n\nFirst.\n\nMore.\n",
        "# Other\n\nSecond.\n",
    ]
    assert {path.name for path in site.iterdir()} == {"projects", "docs", "posts"}


def test_two_languages_ask_different_questions_and_any_gold_answer_counts(squad: Path) -> None:
    asked = labelled(squad, {"en": squad, "es": squad}, 4)
    assert [(each["question"], each["lang"]) for each in asked] == [
        ("a?", "en"),
        ("b?", "es"),
        ("c?", "en"),
        ("d?", "es"),
    ]
    assert asked[0]["facts"] == ["1835|in 1835"]


def test_only_four_bit_matrices_are_written_anew(tmp_path: Path) -> None:
    source, out = tmp_path / "in.gguf", tmp_path / "out.gguf"
    values = np.linspace(-1, 1, 512, dtype=np.float32).reshape(2, 256)
    four, six = gguf.GGMLQuantizationType.Q4_K, gguf.GGMLQuantizationType.Q6_K
    writer = gguf.GGUFWriter(source, "qwen2")
    writer.add_name("A model")
    writer.add_array("some.words", ["one", "dos"])
    blocks = np.random.default_rng(0).integers(0, 255, (2, 144), np.uint8)
    blocks[:, :4] = np.frombuffer(np.array([0.01, 0.01], np.float16).tobytes(), np.uint8)
    writer.add_tensor("a.weight", blocks, raw_dtype=four)
    writer.add_tensor("b.weight", np.zeros((2, 210), np.uint8), raw_dtype=six)
    writer.add_tensor("c.weight", values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()

    requantise(source, out)

    before, after = (gguf.GGUFReader(path) for path in (source, out))
    kinds = {tensor.name: tensor.tensor_type.name for tensor in after.tensors}
    assert kinds == {"a.weight": "Q4_0", "b.weight": "Q6_K", "c.weight": "F32"}
    assert after.fields["some.words"].contents() == ["one", "dos"]
    assert after.fields["general.name"].contents() == "A model"
    was, now = (
        gguf.quants.dequantize(reader.tensors[0].data, reader.tensors[0].tensor_type)
        for reader in (before, after)
    )
    # Sixteen steps over the widest block: half a step, and rounding.
    assert np.abs(was - now).max() <= np.abs(was).max() / 7
    assert np.array_equal(after.tensors[2].data, values)


def test_the_price_is_what_the_guard_adds() -> None:
    prices = [Price(bare=800, guarded=900, spoken=500), Price(bare=1000, guarded=1000, spoken=700)]
    result = figures(["a", "b", "c"], prices)
    assert (result["questions"], result["answered"]) == (3, 2)
    assert result["first_word_ms"] == {
        "bare": {"p50": 900, "p95": 990},
        "guarded": {"p50": 950, "p95": 995},
    }
    assert result["later"] == {"p50": 0.056, "p95": 0.005}
    assert result["later_at_all"] == 0.5
