"""The contract: one row a behaviour that backends could differ in, and which of them is right."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Scope(enum.Enum):
    """Where a row holds."""

    EVERYWHERE = "everywhere"  # the same on every backend
    OWN_ENGINES = "own engines"  # on NumPy and CuPy; `on_jax` says what JAX does
    STATIC = "static"  # on every backend, for what is known when the code is traced


class Authority(enum.Enum):
    """Whose word decides; an earlier one outranks a later one."""

    STANDARD = "the Python array API standard"
    JAX = "JAX"
    NUMPY = "NumPy"
    OWN = "arrayport"


@dataclass(frozen=True)
class Row:
    """One behaviour: what happens, on whose authority, why, and where."""

    key: str
    behaviour: str
    value: str
    authority: Authority
    reason: str
    scope: Scope
    functions: tuple[str, ...]  # as they are called below `arrayport`
    on_jax: str = ""

    @property
    def test(self) -> str:
        """Name of the test that holds the row to its word, in tests/test_contract*.py."""
        return f"test_{self.key}"

    def __str__(self) -> str:
        lines = [
            f"{self.key}: {self.behaviour}",
            f"    value      {self.value}",
            f"    authority  {self.authority.value}: {self.reason}",
            f"    scope      {self.scope.value}" + (f"; JAX: {self.on_jax}" if self.on_jax else ""),
            f"    functions  {', '.join(self.functions)}",
        ]
        return "\n".join(lines)


EVERYWHERE, OWN_ENGINES, STATIC = Scope
STANDARD, JAX, NUMPY, OWN = Authority

INDEXING = ("Array.__getitem__", "numpy.take")
UPDATES = ("Array.at",)
ARITHMETIC = ("numpy.add", "numpy.subtract", "numpy.multiply", "numpy.power")
INTEGER_DIVISION = ("numpy.floor_divide", "numpy.remainder", "numpy.mod", "numpy.divmod")
CONVERSIONS = ("numpy.asarray", "numpy.array", "device_put", "numpy.from_dlpack")
DERIVATIVES = ("grad", "value_and_grad", "jacfwd", "jacrev", "hessian", "jvp", "vjp", "linearize")

CONTRACT = (
    # ---- arrays do not change
    Row(
        "host_buffers_are_copied",
        "a writable host buffer becomes an Array",
        "a copy: writing to the buffer afterwards leaves the Array as it was",
        OWN,
        "an Array never changes, so nothing documented may let a caller change it",
        EVERYWHERE,
        CONVERSIONS,
    ),
    Row(
        "host_views_are_read_only",
        "np.asarray(array)",
        "a read-only ndarray: writing to it raises ValueError",
        OWN,
        "on the CPU it may share the Array's memory",
        EVERYWHERE,
        ("Array.__array__",),
    ),
    Row(
        "augmented_assignment_rebinds",
        "b = x; b += 1",
        "b is a new Array, x is unchanged",
        STANDARD,
        "Python's rule for immutable values, and the standard asks for no aliasing",
        EVERYWHERE,
        ("Array.__add__",),
    ),
    Row(
        "item_assignment_raises",
        "x[0] = 5",
        "TypeError that names x.at[0].set",
        JAX,
        "an Array never changes",
        EVERYWHERE,
        ("Array.__setitem__", *UPDATES),
    ),
    Row(
        "dlpack_gives_copies",
        "x.__dlpack__()",
        "memory of its own; with copy=False x's memory, marked read-only from DLPack 1.0 on",
        OWN,
        "what another library writes must not change an Array, unless the caller asks to share",
        OWN_ENGINES,
        ("Array.__dlpack__",),
        on_jax="x's memory, read-only from DLPack 1.0 on",
    ),
    # ---- indices
    Row(
        "literal_indices_are_checked",
        "x[10] with 10 out of range, a Python int",
        "IndexError, eager or traced",
        NUMPY,
        "the index and the shape are known when the code runs or is traced: a mistake can be told",
        STATIC,
        ("Array.__getitem__", *UPDATES),
    ),
    Row(
        "array_indices_clamp",
        "x[i] with an array i out of range, and no mode",
        "the nearest element in range; numpy.take fills with NaN",
        JAX,
        "an index that is computed on a device cannot raise",
        EVERYWHERE,
        INDEXING,
    ),
    Row(
        "empty_masks_choose_nothing",
        "x[mask] with a boolean mask whose extents are those of x or 0",
        "no elements",
        STANDARD,
        "an extent of 0 holds no True",
        EVERYWHERE,
        (*INDEXING[:1], *UPDATES),
    ),
    Row(
        "updates_out_of_range_are_dropped",
        "x.at[i].set(v) with an array i out of range, and no mode",
        "x unchanged there",
        JAX,
        "an index that is computed on a device cannot raise",
        EVERYWHERE,
        UPDATES,
    ),
    Row(
        "repeated_updates_accumulate",
        "x.at[i].add, multiply, min, max where i repeats an index",
        "every value takes part",
        JAX,
        "NumPy's ufunc.at does so too; plain NumPy assignment would lose values",
        EVERYWHERE,
        UPDATES,
    ),
    Row(
        "repeated_set_keeps_the_last",
        "x.at[i].set(v) where i repeats an index",
        "the last value",
        NUMPY,
        "the standard and JAX leave the order open; a fixed one can be tested",
        OWN_ENGINES,
        UPDATES,
        on_jax="the last on the CPU, undefined on accelerators",
    ),
    # ---- numbers that do not fit
    Row(
        "literals_must_fit",
        "int8_array + 1000, 1000 ** int8_array, int8_array.at[0].set(1000)",
        "OverflowError; comparisons with such a number answer truthfully, an exponent may be any",
        NUMPY,
        "a literal that wraps is a mistake",
        STATIC,
        (*ARITHMETIC, *UPDATES, "numpy.equal", "numpy.less", "numpy.greater"),
    ),
    Row(
        "host_integers_must_fit",
        "numpy.asarray(2**40) while 64-bit types are off",
        "OverflowError that names enable_x64",
        JAX,
        "a Python int that wraps is a mistake",
        STATIC,
        ("numpy.asarray", "numpy.array"),
    ),
    Row(
        "casts_saturate",
        "astype from a float to an integer that cannot hold it",
        "the nearest integer of the dtype; NaN gives 0",
        JAX,
        "XLA's rule; the standard and C leave it open",
        EVERYWHERE,
        ("numpy.astype", "Array.astype", "lax.convert_element_type"),
    ),
    # ---- integer arithmetic
    Row(
        "integer_division",
        "x // 0, x % 0, INT_MIN // -1 of integers",
        "0, 0 and INT_MIN",
        NUMPY,
        "the standard leaves division by zero open; XLA's answers differ between processors",
        EVERYWHERE,
        INTEGER_DIVISION,
    ),
    Row(
        "lax_integer_division",
        "lax.div(x, 0), lax.rem(x, 0) of signed integers",
        "-1 and x; quotients round towards zero",
        JAX,
        "lax is XLA's own arithmetic",
        EVERYWHERE,
        ("lax.div", "lax.rem"),
    ),
    Row(
        "shifts_past_the_width",
        "x << n, x >> n with n at or past the width of the dtype",
        "0, and -1 for a negative x shifted right",
        NUMPY,
        "C leaves it open; the limit of shifting by one is right",
        EVERYWHERE,
        ("numpy.left_shift", "numpy.right_shift"),
    ),
    Row(
        "negative_powers_of_integers",
        "int_array ** -1 with a Python int",
        "TypeError or ValueError that names the exponent",
        NUMPY,
        "the answer is no integer",
        STATIC,
        ("numpy.power", "Array.__pow__"),
    ),
    # ---- special values
    Row(
        "floor_division_of_special_values",
        "floor_divide and remainder of zeros, infinities and NaN",
        "the standard's special cases, signs of zero included",
        STANDARD,
        "its suite tests them",
        EVERYWHERE,
        INTEGER_DIVISION,
    ),
    Row(
        "complex_special_values",
        "exp, log, sqrt, sin, atanh and their like of complex zeros and infinities",
        "those of C99 Annex G",
        STANDARD,
        "the standard refers to them",
        EVERYWHERE,
        (
            *("numpy.exp", "numpy.log", "numpy.sqrt", "numpy.sin", "numpy.cos", "numpy.tan"),
            *("numpy.sinh", "numpy.cosh", "numpy.tanh", "numpy.asin", "numpy.acos", "numpy.atan"),
            *("numpy.asinh", "numpy.acosh", "numpy.atanh", "numpy.expm1", "numpy.log1p"),
            *("numpy.log2", "numpy.log10"),
        ),
    ),
    Row(
        "nan_has_a_sign",
        "signbit(-nan), copysign(1.0, -nan)",
        "True and -1.0",
        STANDARD,
        "the sign is a bit of every floating-point number",
        EVERYWHERE,
        ("numpy.signbit", "numpy.copysign"),
    ),
    Row(
        "subnormals_are_kept",
        "float32 numbers below 2**-126",
        "they compute as IEEE 754 says",
        NUMPY,
        "x - y == 0 then says that x == y",
        OWN_ENGINES,
        ARITHMETIC,
        on_jax="XLA on the CPU flushes them to zero",
    ),
    Row(
        "zeros_of_both_signs_tie",
        "maximum, minimum, clip, max and min of 0.0 and -0.0",
        "a zero of either sign; of two operands' derivatives each is half",
        STANDARD,
        "it leaves the sign open, and a fixed one would take 7 times as long",
        OWN_ENGINES,
        tuple(f"numpy.{name}" for name in ("maximum", "minimum", "clip", "max", "min")),
        on_jax="0.0 is the larger",
    ),
    Row(
        "jit_keeps_special_values",
        "jit(f)(x) beside f(x)",
        "no change of NaN-ness, shape, dtype, weakness or, where a row above fixes it, of the sign "
        "of zero; the last bits may differ",
        OWN,
        "an optimisation is no licence to change what a program means",
        OWN_ENGINES,
        ("jit",),
        on_jax="XLA loses the sign of zero in places",
    ),
    # ---- types
    Row(
        "python_numbers_are_weak",
        "float16_array * 2.0, int8_array + 1",
        "the array's dtype; weak results of weak operands",
        JAX,
        "the standard asks for the array's dtype of mixed kinds' like; weakness is JAX's extension",
        EVERYWHERE,
        ARITHMETIC,
    ),
    Row(
        "reductions_return_arrays",
        "numpy.sum(x), x.max()",
        "a 0-dimensional Array, not a scalar",
        STANDARD,
        "an Array in, an Array out",
        EVERYWHERE,
        ("numpy.sum", "numpy.max", "numpy.min", "numpy.mean", "numpy.prod", "numpy.all"),
    ),
    Row(
        "several_arrays_are_a_tuple",
        "meshgrid, broadcast_arrays, unstack",
        "a tuple; a list in the namespace of the standard's version 2024.12",
        STANDARD,
        "its version 2025.12 says so",
        EVERYWHERE,
        ("numpy.meshgrid", "numpy.broadcast_arrays", "numpy.unstack"),
    ),
    Row(
        "enable_x64_is_one_switch",
        "config.update('enable_x64', ...)",
        "float32 and int32 by default while off; one value in the process, JAX's once it is loaded",
        JAX,
        "an accelerator's natural types; two switches would disagree",
        EVERYWHERE,
        ("config.update", *CONVERSIONS, "numpy.zeros", "numpy.arange"),
    ),
    Row(
        "default_integers",
        "the dtype of searchsorted, digitize, unravel_index, cumulative_prod of narrow integers",
        "the default integer: int32, int64 while 64-bit types are on",
        STANDARD,
        "its words are the default array index type and the default integer; JAX keeps narrow ones",
        EVERYWHERE,
        (
            "numpy.searchsorted",
            "numpy.digitize",
            "numpy.unravel_index",
            "numpy.ravel_multi_index",
            "numpy.cumulative_prod",
        ),
    ),
    # ---- derivatives
    Row(
        "derivatives_at_kinks",
        "the derivative of abs, maximum, relu, where at a kink",
        "JAX's value: 1 for abs, half to each of two equal operands, 0 for relu",
        JAX,
        "any subgradient would do; programs rely on the same one",
        EVERYWHERE,
        (*DERIVATIVES, "numpy.abs", "numpy.maximum", "numpy.minimum", "nn.relu"),
    ),
    Row(
        "finite_derivatives_stay_finite",
        "derivatives of x**0 and x**2.0 at 0, up to the third",
        "the finite values of calculus",
        OWN,
        "NaN where a derivative exists poisons a whole gradient",
        OWN_ENGINES,
        (*DERIVATIVES, "numpy.power"),
        on_jax="NaN from the first of x**0.0 on, and from the third of x**2.0 on",
    ),
    Row(
        "products_with_zeros",
        "the derivative of prod and cumprod where elements are 0",
        "the product of the other elements",
        OWN,
        "dividing the product by the element would give NaN",
        EVERYWHERE,
        (*DERIVATIVES, "numpy.prod", "numpy.cumprod"),
    ),
    # ---- random numbers
    Row(
        "random_bits_are_equal",
        "random.bits, uniform, randint, permutation, bernoulli, split, fold_in",
        "JAX's values, bit by bit: threefry-2x32 in the partitionable layout",
        JAX,
        "a seed then means the same numbers everywhere",
        EVERYWHERE,
        (
            "random.bits",
            "random.uniform",
            "random.randint",
            "random.permutation",
            "random.bernoulli",
            "random.split",
            "random.fold_in",
            "random.PRNGKey",
        ),
    ),
    Row(
        "random_samples_are_close",
        "random.normal, exponential, gumbel, laplace, cauchy, rayleigh, weibull_min",
        "JAX's values to 3 units in the last place of the result or of 1",
        JAX,
        "the formulas are JAX's; logarithms differ in the last bit",
        EVERYWHERE,
        tuple(
            f"random.{name}"
            for name in (
                *("normal", "exponential", "gumbel", "laplace", "cauchy"),
                *("rayleigh", "weibull_min"),
            )
        ),
    ),
    # ---- routing
    Row(
        "numpy_arrays_are_neutral",
        "array + np_array, numpy.sin(np_array)",
        "NumPy arrays follow the other operands' backend, else the ambient one; the result is ours",
        OWN,
        "host data has no home of its own",
        EVERYWHERE,
        (*ARITHMETIC, "numpy.sin"),
    ),
    Row(
        "backends_do_not_mix",
        "array of one backend + array of another",
        "BackendMismatchError that names device_put",
        OWN,
        "a silent copy between devices costs more than any operation",
        EVERYWHERE,
        (*ARITHMETIC, "device_put"),
    ),
    Row(
        "raw_arrays_on_the_left",
        "raw * array, with the backend's own raw array on the left",
        "an Array",
        OWN,
        "whoever computes with one of ours goes on with ours",
        OWN_ENGINES,
        ("Array.__rmul__",),
        on_jax="a raw jax.Array: JAX converts the right operand before it asks it",
    ),
    Row(
        "numpy_functions_dispatch",
        "np.sin(array), np.sum(array)",
        "an Array of the same backend, by arrayport's function of that name",
        OWN,
        "plain NumPy code can then be differentiated, batched, compiled and moved",
        EVERYWHERE,
        ("Array.__array_ufunc__", "Array.__array_function__"),
    ),
    # ---- control flow and errors
    Row(
        "eager_cond_runs_one_branch",
        "lax.cond with a concrete predicate, outside jit",
        "one branch runs, as Python; that the other's types differ shows only when traced",
        OWN,
        "it is quick, and any Python may stand in a branch",
        OWN_ENGINES,
        ("lax.cond", "lax.switch"),
        on_jax="both branches are traced, and their types compared, always",
    ),
    Row(
        "errors_are_one_hierarchy",
        "a traced value as a truth value, an index or a NumPy array",
        "arrayport.errors' TracerBoolConversionError and its like, naming the line of user code",
        JAX,
        "a caller catches one type, whatever runs",
        EVERYWHERE,
        ("jit", "vmap", "errors"),
    ),
)


def rows(name: str = "") -> list[Row]:
    """Return the rows that touch a function, named as `numpy.sin` or `sin`; all if no name."""
    wanted = name.removeprefix("arrayport.")
    return [
        row
        for row in CONTRACT
        if not wanted or any(f == wanted or f.endswith("." + wanted) for f in row.functions)
    ]


HEAD = """# The contract

What backends could differ in, and what arrayport does on all of them: `ap.contract(name)` prints
what touches one function. Each section is a row of `arrayport/core/contract.py`, and a test named
`test_` and the row's key in `tests/test_contract*.py`, run eagerly and under `jit`.

A row holds *everywhere*; or on our *own engines*, NumPy and CuPy, and then it says what JAX does;
or it is *static*: on every backend, for what is known when the code is traced.

This page is written by `python -c "import arrayport.core.contract as c; print(c.markdown())"`.
"""


def markdown() -> str:
    """Give the whole contract as docs/contract.md holds it."""
    return "\n".join([HEAD, *map(_section, CONTRACT)]).rstrip()


def _section(row: Row) -> str:
    scope = row.scope.value + (f"; on JAX: {row.on_jax}" if row.on_jax else "")
    lines = [
        f"## {row.key}",
        "",
        f"* case: {row.behaviour}",
        f"* value: {row.value}",
        f"* authority: {row.authority.value}: {row.reason}",
        f"* scope: {scope}",
        f"* functions: {', '.join(f'`{name}`' for name in row.functions)}",
        "",
    ]
    return "\n".join(lines)
