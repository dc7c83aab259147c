"""A GGUF with its 4-bit matrices in another 4-bit form: Q4_K becomes Q4_0, everything else is copied.

    python -m bench.requantised IN.gguf OUT.gguf

For speed and memory only: quantised twice, such a model answers worse than one made from the original.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import gguf
from gguf.quants import dequantize, quantize

FROM, TO = gguf.GGMLQuantizationType.Q4_K, gguf.GGMLQuantizationType.Q4_0
COUNTED_BY_WRITER = ("GGUF.", "general.architecture")


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(prog="bench.requantised", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("source", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args(arguments)
    requantise(options.source, options.out)
    print(f"{options.out}: {options.out.stat().st_size / 1e9:.2f} GB")


def requantise(source: Path, out: Path) -> None:
    """Write `out`; half a minute and a gigabyte with 1.5B parameters."""
    reader = gguf.GGUFReader(source)
    writer = gguf.GGUFWriter(out, str(reader.fields["general.architecture"].contents()))
    try:
        for field in reader.fields.values():
            if not field.name.startswith(COUNTED_BY_WRITER):
                inner = field.types[-1] if field.types[0] is gguf.GGUFValueType.ARRAY else None
                writer.add_key_value(field.name, field.contents(), field.types[0], inner)
        for tensor in reader.tensors:
            data, kind = tensor.data, tensor.tensor_type
            if kind is FROM:
                data, kind = quantize(dequantize(data, FROM), TO), TO
            writer.add_tensor(tensor.name, data, raw_dtype=kind)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
    finally:
        writer.close()


if __name__ == "__main__":
    main()
