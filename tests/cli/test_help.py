"""Help and terminals: groups of commands, common options first, widths and colours."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator

import click
import pytest
from support.command_server import command_folder

from neardup.cli import COMMANDS, LazyGroup, cli
from neardup.cli.command_list import GROUPS, color_wanted

pytestmark = pytest.mark.process


def shown(*arguments: str, **environment: str) -> str:
    clean = {
        name: value
        for name, value in os.environ.items()
        if name not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")
    }
    command = [str(command_folder() / "neardup"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=clean | environment).stdout


def test_every_command_is_in_one_group():
    text = shown("--help")
    assert len(set(COMMANDS)) == len(COMMANDS)
    places = [text.index(f"{title}:\n") for title in GROUPS]
    assert places == sorted(places) and all(f"\n  {name} " in text for name in COMMANDS)
    assert all(
        f"  {line}\n" in text for names in GROUPS.values() for line in names.values()
    )  # nothing is cut off


@pytest.mark.parametrize("command", ["scan", "dedup"])
def test_the_common_options_come_first_and_help_all_has_the_rest(command):
    brief, whole = shown(command, "--help"), shown(command, "--help-all")
    assert brief.count("\n  -") == 12 and "--help-all" in brief and "--floor" not in brief
    assert whole.count("\n  -") > 40 and "--floor" in whole and "--out" in whole.split("More options:")[0]


def test_help_is_as_wide_as_the_terminal():
    for width in (60, 100):
        lines = shown("dedup", "--help-all", COLUMNS=str(width)).splitlines()
        longest = max(len(line) for line in lines if "[" not in line)  # a choice is never broken
        assert width - 15 < longest <= width


def test_colours_follow_the_environment(tmp_path):
    for environment, expected in (
        ({}, None),
        ({"NO_COLOR": "1"}, False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, True),
        ({"TERM": "dumb"}, False),
        ({"NO_COLOR": ""}, None),
    ):
        assert color_wanted(environment) is expected
    (tmp_path / "a.jsonl").write_text('{"id": 1, "text": "one two three"}\n' * 2)
    arguments = ("dedup", str(tmp_path / "a.jsonl"), "--findings", str(tmp_path / "f"))
    assert "\x1b[" not in shown(*arguments)
    assert "\x1b[" in shown(*arguments, FORCE_COLOR="1")


def test_a_long_diff_is_bounded(tmp_path):
    words = [f"word{i}" for i in range(2000)]
    changed = [f"other{i}" if i % 10 == 0 else word for i, word in enumerate(words)]
    (tmp_path / "a.txt").write_text(" ".join(words))
    (tmp_path / "b.txt").write_text(" ".join(changed))
    arguments = ("explain", str(tmp_path / "a.txt"), str(tmp_path / "b.txt"))
    brief, whole = shown(*arguments), shown(*arguments, "--full")
    assert brief.startswith("different") and "more changes; --full" in brief
    assert "other1990" in whole and "other1990" not in brief and len(brief) < len(whole) / 2


@pytest.mark.parametrize("name", COMMANDS)
def test_what_the_help_says_of_a_command(name):
    assert isinstance(cli, LazyGroup)
    command = cli.get_command(None, name)
    (line,) = [names[name] for names in GROUPS.values() if name in names]
    assert command is not None and 20 < len(line) <= 80 - 6 - max(map(len, COMMANDS))
    assert line.endswith((".", "?"))


def test_the_help_imports_no_command():
    code = "import sys; from neardup.cli import main\ntry: main(['--help'])\nfinally: print(*sys.modules)"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = made.stdout.splitlines()[-1].split()
    assert "numpy" not in loaded
    assert {name for name in loaded if name.startswith("neardup.cli.")} == {"neardup.cli.command_list"}


def every_option(command: click.Command, path: str) -> Iterator[tuple[str, str]]:
    context = click.Context(command, info_name=path)
    for option in command.get_params(context):
        if isinstance(option, click.Option) and not option.hidden:
            yield f"{path} {option.opts[0]}", option.help or ""
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            yield from every_option(command.get_command(context, name), f"{path} {name}")


def test_help_of_an_option_is_clear():
    """It names the thing or says what is done: "Words per shingle.", not "Of a shingle, in words."."""
    begun = re.compile(r"(?:Of|In|To|By|From|For|That|At) ")
    assert [(name, text) for name, text in every_option(cli, "neardup") if begun.match(text)] == []


def test_every_option_has_help():
    assert [name for name, text in every_option(cli, "neardup") if not text.strip()] == []
