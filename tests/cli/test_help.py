"""The help: quick, because it imports no command, and still what the commands say."""

import subprocess
import sys

import pytest

from neardup.cli import COMMANDS, LazyGroup, cli


@pytest.mark.parametrize("name", COMMANDS)
def test_what_the_help_says_of_a_command(name):
    assert isinstance(cli, LazyGroup)
    command = cli.get_command(None, name)
    assert COMMANDS[name] == command.get_short_help_str(400)


def test_the_help_imports_no_command():
    code = "import sys; from neardup.cli import main\ntry: main(['--help'])\nfinally: print(*sys.modules)"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = made.stdout.splitlines()[-1].split()
    assert "neardup.cli" in loaded and "numpy" not in loaded
    assert not [name for name in loaded if name.startswith("neardup.cli.")]
