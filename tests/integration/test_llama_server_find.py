"""Which llama-server is taken, and what is said when none can be had."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import time
from collections import namedtuple
from pathlib import Path

import pytest

from native import llama_build, llama_server
from native.build_progress import run_with_progress
from native.llama_build import cpu_switches
from native.llama_errors import BuildFailed, MissingTool, NoRoom
from native.llama_server import find_or_build, usable

GOOD = "#!/bin/sh\necho 'version: 11434 (fake)' >&2\n"
BROKEN = "#!/bin/sh\necho 'GLIBC_2.38 not found' >&2\nexit 1\n"


def executable(path: Path, text: str = GOOD) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def path_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The whole PATH of the test: what is not put here does not exist."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "echo", "cat", "mkdir", "cp", "chmod"):
        found = shutil.which(name)
        assert found
        (folder / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("CXX", raising=False)
    return folder


@pytest.fixture
def environment(tmp_path: Path, path_folder: Path) -> dict[str, str]:
    return {"PATH": str(path_folder), "PORTFOLIO_BOT_CACHE": str(tmp_path / "cache")}


def found(environment: dict[str, str]) -> tuple[Path, str]:
    said: list[str] = []
    path = find_or_build(environment, said.append)
    return path, "\n".join(said)


def test_the_named_one_comes_first(
    tmp_path: Path, path_folder: Path, environment: dict[str, str]
) -> None:
    executable(path_folder / "llama-server")
    mine = executable(tmp_path / "mine" / "llama")
    path, said = found({**environment, "LLAMA_SERVER": str(mine)})
    assert path == mine
    assert "version: 11434" in said


@pytest.mark.parametrize("text", [BROKEN, "not a program", None])
def test_an_unusable_named_one_is_said_and_passed_over(
    tmp_path: Path, path_folder: Path, environment: dict[str, str], text: str | None
) -> None:
    on_path = executable(path_folder / "llama-server")
    mine = tmp_path / "mine"
    if text is not None:
        executable(mine, text)
    path, said = found({**environment, "LLAMA_SERVER": str(mine)})
    assert path == on_path
    assert f"{mine}" in said
    assert "passed over" in said


def test_a_named_one_may_be_a_bare_name(path_folder: Path, environment: dict[str, str]) -> None:
    other = executable(path_folder / "llama-server-b11434")
    assert found({**environment, "LLAMA_SERVER": "llama-server-b11434"})[0] == other


@pytest.mark.parametrize("folder", ["llama-server-11434", "llama-server-11434-image"])
def test_an_earlier_one_is_taken_from_the_cache(
    tmp_path: Path, environment: dict[str, str], folder: str
) -> None:
    kept = executable(tmp_path / "cache" / folder / "llama-server")
    assert found(environment)[0] == kept


def test_a_build_for_another_cpu_is_not_used(tmp_path: Path, environment: dict[str, str]) -> None:
    """It answers --version and dies of SIGILL at its first matrix product."""
    folder = tmp_path / "cache/llama-server-11434"
    executable(folder / "llama-server")
    image = executable(tmp_path / "cache/llama-server-11434-image/llama-server")
    (folder / llama_server.CPU_NOTE).write_text(" ".join(cpu_switches()))
    assert found(environment)[0] == folder / "llama-server"
    (folder / llama_server.CPU_NOTE).write_text("-DGGML_NATIVE=OFF -DGGML_AVX512=ON -DGGML_SVE=ON")
    path, said = found(environment)
    assert path == image
    assert "another CPU" in said
    assert not folder.exists()


def test_a_server_that_never_answers_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llama_server, "VERSION_TIMEOUT_SECONDS", 0.1)
    hanging = executable(tmp_path / "hang", "#!/bin/sh\nexec sleep 30\n")
    said: list[str] = []
    assert not usable(hanging, "PATH", said.append)
    assert "did not answer" in said[0]


def test_the_official_image_is_copied_out(
    tmp_path: Path, path_folder: Path, environment: dict[str, str]
) -> None:
    executable(
        path_folder / "docker",
        f"""#!/bin/sh
echo "$@" >> {tmp_path}/docker.log
case "$1" in
  cp) mkdir -p "$3" && cat > "$3/llama-server" <<'END' && chmod +x "$3/llama-server"
#!/bin/sh
echo "version: image, libraries in $LD_LIBRARY_PATH"
END
esac
""",
    )
    path, said = found(environment)
    assert path == tmp_path / "cache/llama-server-11434-image/llama-server"
    assert f"libraries in {path.parent}/app" in said
    used = [line.split()[0] for line in (tmp_path / "docker.log").read_text().splitlines()]
    assert used == ["info", "pull", "create", "cp", "rm"]
    assert found(environment)[0] == path
    assert len((tmp_path / "docker.log").read_text().splitlines()) == len(used)


@pytest.mark.parametrize("fails", ["info", "pull", "create", "cp"])
def test_an_image_that_can_not_be_had_moves_on(
    tmp_path: Path, path_folder: Path, environment: dict[str, str], fails: str
) -> None:
    executable(path_folder / "docker", f'#!/bin/sh\n[ "$1" != {fails} ]\n')
    with pytest.raises(MissingTool):
        found(environment)
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["llama-server-11434.lock"]


def test_an_image_for_another_libc_is_not_kept(
    tmp_path: Path, path_folder: Path, environment: dict[str, str]
) -> None:
    executable(
        path_folder / "docker",
        """#!/bin/sh
if [ "$1" = cp ]; then mkdir -p "$3" && echo 'exit 1' > "$3/llama-server"; fi
""",
    )
    with pytest.raises(MissingTool):
        found(environment)
    assert not (tmp_path / "cache/llama-server-11434-image").exists()


def test_a_missing_compiler_is_one_line_with_the_cure(environment: dict[str, str]) -> None:
    with pytest.raises(MissingTool, match="sudo apt install g\\+\\+ make"):
        found(environment)


def test_a_missing_make_is_named_alone(path_folder: Path, environment: dict[str, str]) -> None:
    executable(path_folder / "g++")
    with pytest.raises(MissingTool, match="apt install make`,"):
        found(environment)


def test_too_little_disk_is_said_before_anything_is_downloaded(
    tmp_path: Path, path_folder: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    executable(path_folder / "g++")
    executable(path_folder / "make")
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10**10, 10**10 - 10**6, 10**6))
    monkeypatch.setattr(llama_build, "fetch_source", lambda *_: pytest.fail("downloaded"))
    with pytest.raises(NoRoom, match="PORTFOLIO_BOT_CACHE"):
        found(environment)
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["llama-server-11434.lock"]


def test_a_build_is_put_into_the_cache_whole(
    tmp_path: Path, path_folder: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    executable(path_folder / "g++")
    executable(path_folder / "make")
    monkeypatch.setattr(llama_build, "fetch_source", lambda work, _: work)
    monkeypatch.setattr(
        llama_build,
        "compile_server",
        lambda _, work, __: executable(work / "build" / "llama-server"),
    )
    path, _ = found(environment)
    assert path == tmp_path / "cache/llama-server-11434/llama-server"
    assert os.access(path, os.X_OK)
    assert not (tmp_path / "cache/llama-server-11434.building").exists()


def test_a_failed_build_leaves_nothing(
    tmp_path: Path, path_folder: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    executable(path_folder / "g++")
    executable(path_folder / "make")
    (tmp_path / "cache/llama-server-11434.building/half").mkdir(parents=True)

    def broken(work: Path, _: object) -> Path:
        assert list(work.iterdir()) == [], "leftovers of a killed build must be gone"
        raise BuildFailed("no")

    monkeypatch.setattr(llama_build, "fetch_source", broken)
    with pytest.raises(BuildFailed):
        found(environment)
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["llama-server-11434.lock"]


def test_another_archive_than_the_pinned_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.tar.gz").write_bytes(b"other")
    with pytest.raises(BuildFailed, match="refused"):
        llama_build.check_sdist(tmp_path / "x.tar.gz")


def test_progress_is_a_line_each_ten_percent_in_a_log() -> None:
    out = io.StringIO()
    script = "for p in range(101): print(f'[{p:3d}%] Building x.o'); print('noise')"
    run_with_progress([sys.executable, "-c", script], "build", out)
    assert out.getvalue().splitlines() == [f"build  {p:3d} %" for p in range(0, 101, 10)]


def test_a_failed_command_is_told_with_its_first_error() -> None:
    script = (
        "print('x.cpp:1: fatal error: no such header'); print('make: ***'); raise SystemExit(2)"
    )
    with pytest.raises(BuildFailed, match=r"code 2: x\.cpp:1: fatal error"):
        run_with_progress([sys.executable, "-c", script], "build", io.StringIO())


def test_an_interrupted_build_ends_all_it_started(tmp_path: Path) -> None:
    class Interrupt(io.StringIO):
        def write(self, _: str) -> int:
            raise KeyboardInterrupt

    pid_file = tmp_path / "pid"
    script = f"sleep 60 & echo $! > {pid_file}; echo '[ 10%] x'; wait"
    with pytest.raises(KeyboardInterrupt):
        run_with_progress(["/bin/sh", "-c", script], "build", Interrupt())
    assert _gone(int(pid_file.read_text()))


def _gone(pid: int) -> bool:
    deadline = time.monotonic() + 30  # its sleep is of 60
    while time.monotonic() < deadline:
        stat = Path(f"/proc/{pid}/stat")
        if not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.01)
    return False


def test_amx_is_never_switched_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor: 0\nflags\t\t: sse4_2 avx avx2 fma f16c bmi2 amx_tile amx_int8\n")
    switches = cpu_switches(cpuinfo)
    assert "-DGGML_NATIVE=OFF" in switches
    assert "-DGGML_AVX2=ON" in switches
    assert "-DGGML_AVX512=OFF" in switches
    assert not [switch for switch in switches if "AMX" in switch]


def test_another_cpu_family_builds_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    assert cpu_switches() == ["-DGGML_NATIVE=ON"]


def test_the_command_prints_only_the_path(tmp_path: Path) -> None:
    server = executable(tmp_path / "llama-server")
    done = subprocess.run(
        [sys.executable, "-m", "native.llama_server"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, "LLAMA_SERVER": str(server)},
    )
    assert done.returncode == 0
    assert done.stdout == f"{server}\n"
    assert "version: 11434" in done.stderr
