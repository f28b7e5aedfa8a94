"""Tests of the options: where their values come from, and whose word holds."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading

import pytest

from arrayport.core import config as module
from arrayport.core.config import Config, config, x64


@pytest.fixture(autouse=True)
def fresh_option(monkeypatch):
    """Give each test the option as it is before anything was set or followed."""
    for field, value in {"value": False, "explicit": False, "read": None, "write": None}.items():
        monkeypatch.setattr(module._x64, field, value)
        monkeypatch.setattr(module._disable_jit, field, value)


class Flag:
    """Another library's flag."""

    def __init__(self, value):
        self.value = value

    def read(self):
        return self.value

    def write(self, value):
        self.value = value


def in_process(code, **environment):
    clean = {k: v for k, v in os.environ.items() if not k.endswith(("ENABLE_X64", "DISABLE_JIT"))}
    clean["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    return subprocess.run(
        [sys.executable, "-c", code],
        env=clean | environment,
        capture_output=True,
        text=True,
        check=False,
    )


READ = "from arrayport.core.config import config as c; print(c.enable_x64, c.disable_jit)"


@pytest.mark.parametrize("name", ["enable_x64", "jax_enable_x64", "disable_jit", "jax_disable_jit"])
def test_update_is_seen_under_both_names(name):
    plain = name.removeprefix("jax_")
    assert getattr(config, plain) is False
    config.update(name, True)
    assert getattr(config, plain) is getattr(config, f"jax_{plain}") is True
    assert x64() is ("x64" in name)
    config.update(name, False)
    assert getattr(config, name) is False


def test_all_instances_and_threads_see_one_value():
    config.update("enable_x64", True)
    seen = []
    thread = threading.Thread(target=lambda: seen.append((x64(), Config().enable_x64)))
    thread.start()
    thread.join()
    assert seen == [(True, True)]


def test_an_unknown_option_is_refused_with_the_known_ones():
    for attempt in (
        lambda: config.update("jax_debug_no_reuse", True),
        lambda: config.jax_debug_no_reuse,
    ):
        with pytest.raises(AttributeError, match=r"debug_no_reuse.*enable_x64.*disable_jit"):
            attempt()


@pytest.mark.parametrize("value", [1, None, "true", 0.0])
def test_a_value_that_is_no_bool_is_refused_and_changes_nothing(value):
    with pytest.raises(TypeError, match="'enable_x64' is a switch: pass True or False"):
        config.update("enable_x64", value)
    assert config.enable_x64 is False


def test_an_option_is_not_set_by_assignment():
    with pytest.raises(AttributeError):
        config.enable_x64 = True
    assert config.enable_x64 is False


def test_override_holds_within_its_block_whatever_happens_there():
    with config.override("jax_enable_x64", True):
        assert x64()
        with config.override("enable_x64", False):
            assert not x64()
        assert x64()
    assert not x64()
    with contextlib.suppress(KeyError), config.override("enable_x64", True):
        raise KeyError
    assert not x64()


def test_a_followed_flag_is_the_truth_where_nothing_was_set():
    flag = Flag(True)
    config.follow(flag.read, flag.write)
    assert x64()
    assert config.jax_enable_x64
    flag.value = False
    assert not x64()
    config.update("enable_x64", True)
    assert flag.value
    assert x64()


def test_what_was_set_is_written_to_the_followed_flag():
    flag = Flag(False)
    config.update("enable_x64", True)
    config.follow(flag.read, flag.write)
    assert flag.value
    flag.value = False
    assert not x64()


def test_an_override_that_ended_was_no_setting():
    flag = Flag(True)
    with config.override("enable_x64", False):
        pass
    config.follow(flag.read, flag.write)
    assert flag.value
    with config.override("enable_x64", False):
        assert not flag.value
    assert flag.value


def test_other_options_can_be_followed_too():
    flag = Flag(True)
    config.follow(flag.read, flag.write, "disable_jit")
    assert config.disable_jit
    assert not config.enable_x64


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, "False False"),
        ({"ARRAYPORT_ENABLE_X64": "1"}, "True False"),
        ({"JAX_ENABLE_X64": "True"}, "True False"),
        ({"JAX_ENABLE_X64": "1", "ARRAYPORT_ENABLE_X64": "0"}, "False False"),
        ({"JAX_DISABLE_JIT": "on", "ARRAYPORT_ENABLE_X64": "yes"}, "True True"),
        ({"ARRAYPORT_ENABLE_X64": ""}, "False False"),
    ],
)
def test_the_environment_sets_options(environment, expected):
    done = in_process(READ, **environment)
    assert done.stdout.strip() == expected, done.stderr


def test_an_unreadable_environment_variable_is_named():
    done = in_process(READ, ARRAYPORT_ENABLE_X64="maybe")
    assert done.returncode == 1
    assert "ARRAYPORT_ENABLE_X64 is 'maybe': write 1 (on) or 0 (off)" in done.stderr


def test_jax_s_own_flag_can_be_followed():
    pytest.importorskip("jax", reason="the flag that is followed is JAX's")
    follow = (
        "import jax; from arrayport.core.config import config, x64\n"
        "config.follow(lambda: jax.config.jax_enable_x64,"
        " lambda v: jax.config.update('jax_enable_x64', v))\n"
    )
    told = in_process(
        follow + "print(x64(), jax.config.jax_enable_x64)\n"
        "with jax.enable_x64(False): print(x64())\n"
        "config.update('enable_x64', False); print(jax.numpy.zeros(1).dtype)",
        ARRAYPORT_ENABLE_X64="1",
    )
    assert told.stdout.split() == ["True", "True", "False", "float32"], told.stderr
    heard = in_process("import jax; jax.config.update('jax_enable_x64', True)\n" + follow
                       + "print(x64())")  # fmt: skip
    assert heard.stdout.split() == ["True"], heard.stderr
