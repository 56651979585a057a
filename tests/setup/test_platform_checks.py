"""CMake refuses a machine or a compiler on which the core cannot work: one sentence, before anything is compiled."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHECK = ROOT / "cmake" / "check_platform.cmake"
GOOD = {"id": "GNU", "version": "12.2.0", "pointer": "8", "order": "LITTLE_ENDIAN"}
NAMES = {
    "id": "CMAKE_CXX_COMPILER_ID",
    "version": "CMAKE_CXX_COMPILER_VERSION",
    "pointer": "CMAKE_SIZEOF_VOID_P",
    "order": "CMAKE_CXX_BYTE_ORDER",
}


def cmake(*arguments: str) -> tuple[bool, str]:
    """Whether CMake was content, and what it said, with the line breaks it adds taken out."""
    program = shutil.which("cmake", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    assert program is not None, "cmake is missing: `make build` puts it beside this Python"
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=300)
    return done.returncode == 0, " ".join((done.stdout + done.stderr).split())


def check(**machine: str) -> tuple[bool, str]:
    given = {**GOOD, **machine}
    return cmake(*(f"-D{NAMES[name]}={value}" for name, value in given.items()), "-P", str(CHECK))


@pytest.mark.parametrize(
    ("compiler", "version"),
    [("GNU", "12.1.0"), ("GNU", "15.2.0"), ("Clang", "14.0.0"), ("Clang", "22.1.8")],
)
def test_compilers_that_work_are_accepted_silently(compiler: str, version: str) -> None:
    assert check(id=compiler, version=version) == (True, "")


def test_an_untried_compiler_is_accepted_with_a_note() -> None:
    accepted, said = check(id="AppleClang", version="15.0.0")
    assert accepted
    assert (
        "neardup was never tried with AppleClang 15.0.0; GCC 12 or newer, or Clang 14 or newer works" in said
    )


@pytest.mark.parametrize(
    ("compiler", "version"), [("GNU", "11.3.0"), ("GNU", "9.4.0"), ("Clang", "13.0.1"), ("Clang", "6.0")]
)
def test_an_old_compiler_is_refused_and_the_versions_that_work_are_named(compiler: str, version: str) -> None:
    accepted, said = check(id=compiler, version=version)
    assert not accepted
    assert f"neardup does not build with {compiler} {version}." in said
    assert "Install GCC 12 or newer, or Clang 14 or newer, and name it: CXX=g++-12" in said


def test_a_compiler_without_our_attributes_is_refused() -> None:
    accepted, said = check(id="MSVC", version="19.40")
    assert not accepted
    assert "neardup does not build with MSVC 19.40" in said
    assert "Use GCC 12 or newer, or Clang 14 or newer" in said


def test_a_32_bit_machine_is_refused() -> None:
    accepted, said = check(pointer="4")
    assert not accepted
    assert "neardup does not work on a 32-bit machine" in said
    assert "such as x86-64 or arm64, with a 64-bit Python" in said


def test_a_big_endian_machine_is_refused() -> None:
    accepted, said = check(order="BIG_ENDIAN")
    assert not accepted
    assert "neardup does not work on a big-endian machine" in said


def test_an_unknown_byte_order_is_no_reason_to_refuse() -> None:
    assert check(order="") == (True, "")  # CMake leaves it empty for two processors in one file, as on macOS


@pytest.mark.skipif(
    platform.machine() != "x86_64", reason="only compilers for x86-64 take -m32 (run it on such a machine)"
)
def test_the_project_itself_makes_the_check(tmp_path: Path) -> None:
    # A static library, because a program would need the 32-bit C library.
    accepted, said = cmake(
        "-S",
        str(ROOT),
        "-B",
        str(tmp_path),
        "-DCMAKE_CXX_FLAGS=-m32",
        "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY",
    )
    assert not accepted
    assert "neardup does not work on a 32-bit machine" in said
    assert "Python" not in said.split("neardup does not work")[0]  # before the search for anything else
