"""debug.print and its like: what is printed, how often, and in which order."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp
from arrayport import lax

X = np.array([0.5, -1.0, 2.0], np.float32)


@pytest.fixture
def printed(capsys):
    def read():
        ap.effects_barrier()
        return capsys.readouterr().out.splitlines()

    return read


def shown(x):
    ap.debug.print("x={x} {0}", x.shape, x=x)
    return (x * x).sum()


@pytest.mark.parametrize(
    "wrap",
    [
        lambda f: f,
        ap.jit,
        ap.grad,
        lambda f: ap.jit(ap.grad(f)),
        lambda f: ap.grad(ap.jit(f)),
        lambda f: lambda x: ap.jvp(f, (x,), (x,)),
        lambda f: lambda x: ap.linearize(f, x)[1](x),
    ],
    ids=["eager", "jit", "grad", "jit grad", "grad jit", "jvp", "linearize"],
)
@pytest.mark.usefixtures("backend")
def test_once(wrap, printed):
    wrap(shown)(anp.asarray(X))
    assert printed() == ["x=[ 0.5 -1.   2. ] (3,)"]


@pytest.mark.usefixtures("backend")
def test_each_example_under_vmap(printed):
    for f in (ap.vmap(shown), ap.jit(ap.vmap(shown)), ap.vmap(ap.grad(shown))):
        f(anp.asarray(X))
        assert sorted(printed()) == ["x=-1.0 ()", "x=0.5 ()", "x=2.0 ()"]
    y = anp.asarray(X)
    ap.vmap(lambda a: (ap.debug.print("{}", y[0]), a)[1])(y)
    assert printed() == ["0.5"]


@pytest.mark.usefixtures("backend")
def test_recomputing_prints_again(printed):
    ap.grad(ap.checkpoint(shown))(anp.asarray(X))
    assert printed() == ["x=[ 0.5 -1.   2. ] (3,)"] * 2


@pytest.mark.usefixtures("backend")
def test_order_in_a_program(printed):
    @ap.jit
    def f(x):
        ap.debug.print("first", ordered=True)
        ap.debug.print("first", ordered=True)

        def step(c, a):
            ap.debug.print("{} {}", c, a, ordered=True)
            return c + a, None

        total, _ = lax.scan(step, 0, x)
        ap.debug.print("last {}", total, ordered=True)

    for _ in range(2):
        f(anp.arange(3))
        assert printed() == ["first", "first", "0 0", "0 1", "1 2", "last 3"]


def test_order_when_it_was_not_asked_for(printed, backend):
    if backend == "jax":
        pytest.skip("JAX keeps the order of ordered effects only")
    f = ap.jit(lambda x: [ap.debug.print("{}", x * i) for i in range(5)][:0])
    f(2)
    assert printed() == ["0", "2", "4", "6", "8"]


def test_order_in_a_program_that_became_machine_code(printed, backend):
    if backend == "jax":
        pytest.skip("JAX keeps the order of ordered effects only")

    @ap.jit
    def f(x):
        y = anp.sin(anp.cumsum(anp.sort(anp.cos(x) * 2))).sum()
        ap.debug.print("late {:.3f}", y)
        ap.debug.print("early {:.3f}", x[0] + 1)
        return y

    x = anp.linspace(0.0, 1.0, 200_000)
    f(x)
    expected = printed()
    assert [line.split()[0] for line in expected] == ["late", "early"]
    for _ in range(30):
        f(x)
    assert [line.split()[0] for line in printed()] == ["late", "early"] * 30


@pytest.mark.usefixtures("backend")
def test_branches(printed):
    def f(x):
        return lax.cond(
            x > 0, lambda: ap.debug.print("up {}", x), lambda: ap.debug.print("down {}", x)
        )

    ap.jit(f)(1.0)
    ap.jit(f)(-1.0)
    assert printed() == ["up 1.0", "down -1.0"]
    ap.vmap(f)(anp.asarray(X))  # runs both branches for all
    assert len(printed()) == 6


@pytest.mark.usefixtures("backend")
def test_formats(printed):
    def f(x):
        ap.debug.print("{:.2f} {name:>5} {n:03d} {{}}", x, name="ab", n=7)
        ap.debug.print("{tree}", tree={"a": x, "b": ("s", None)})
        ap.debug.print(ordered=True)("two calls {}", x)
        ap.debug.print("{} {{}}", x, skip_format_check=True)

    ap.jit(f)(anp.float32(1.5))
    first, second, third, fourth = printed()
    assert first == "1.50    ab 007 {}"
    assert second.startswith("{'a': Array(1.5, dtype=float32")
    assert second.endswith(", 'b': ('s', None)}")
    assert (third, fourth) == ("two calls 1.5", "1.5 {}")


@pytest.mark.usefixtures("backend")
def test_formats_that_do_not_fit():
    with pytest.raises(ValueError, match=r"test_debug\.py.*y.*f-string"):
        ap.debug.print("x", y=1)
    with pytest.raises(ValueError, match="does not use"):
        ap.jit(lambda x: ap.debug.print("{}", x, x))(1.0)
    with pytest.raises(IndexError):
        ap.debug.print("{} {}", 1)
    with pytest.raises(KeyError):
        ap.debug.print("{x}")


@pytest.mark.usefixtures("backend")
def test_callback():
    seen = []

    def f(x):
        ap.debug.callback(lambda *a, **k: seen.append((a, k)), x, "s", 2, y={"z": x})
        ap.debug.callback(ordered=True)(lambda v: seen.append(float(v)), x)

    ap.jit(f)(anp.float32(1))
    ap.effects_barrier()
    (((array, text, number), named),) = [s for s in seen if isinstance(s, tuple)]
    assert isinstance(array, ap.Array)
    assert (text, int(number), float(named["y"]["z"])) == ("s", 2, 1.0)
    assert 1.0 in seen
    with pytest.raises(TypeError, match="function"):
        ap.debug.callback(3)


@pytest.mark.usefixtures("backend")
def test_log(caplog):
    with caplog.at_level(logging.INFO, "arrayport.debug"):
        ap.jit(lambda x: ap.debug.log("x is {}", x))(2.0)
        ap.effects_barrier()
    assert caplog.messages == ["x is 2.0"]
    with pytest.raises(ValueError, match=r"debug\.log was given"):
        ap.debug.log("x", y=1)


@pytest.mark.usefixtures("backend")
def test_breakpoint(printed, monkeypatch):
    lines = iter(["print('seen', float(doubled), label)", "p doubled", "c", "print('not asked')"])

    def answer(_prompt=""):
        try:
            return next(lines)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr("builtins.input", answer)

    @ap.jit
    def f(x):
        doubled = x * 2
        label = "twice"
        ap.debug.breakpoint()
        return doubled, label == "twice"

    f(1.5)
    assert printed() == ["seen 3.0 twice", "Array(3., dtype=float32)"]
    assert ap.debug.breakpoint(token=anp.ones(2)).shape == (2,)
    printed()
