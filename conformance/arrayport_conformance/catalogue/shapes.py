"""Rows of functions that arrange elements anew."""

from __future__ import annotations

from arrayport_conformance.catalogue.rows import ANY, FLOATS, NUMBERS, B, Row, X, case, rows

A_FEW = ("float32", "float64", "int32")

ROWS = (
    # ---- one array
    Row("numpy.reshape", (case(X(2, 6), (3, 4)), case(X(12), (2, -1))), ANY, 0),
    Row("numpy.ravel", (case(X(2, 3)),), A_FEW, 0),
    Row("numpy.transpose", (case(X(2, 3, 4)), case(X(2, 3, 4), (1, 0, 2))), ANY, 0),
    Row("numpy.permute_dims", (case(X(2, 3, 4), (1, 0, 2)),), A_FEW, 0),
    Row("numpy.matrix_transpose", (case(X(2, 3, 4)),), A_FEW, 0),
    Row("numpy.swapaxes", (case(X(2, 3, 4), 0, 2),), A_FEW, 0),
    Row("numpy.moveaxis", (case(X(2, 3, 4), 0, -1), case(X(2, 3, 4), (0, 1), (1, 2))), A_FEW, 0),
    Row("numpy.rollaxis", (case(X(2, 3, 4), 2),), A_FEW, 0),
    Row("numpy.expand_dims", (case(X(2, 3), 1), case(X(3), (0, 2))), A_FEW, 0),
    Row("numpy.squeeze", (case(X(1, 3, 1)), case(X(1, 3, 1), 0)), A_FEW, 0),
    *rows("numpy.atleast_1d numpy.atleast_2d numpy.atleast_3d", (case(X()), case(X(3))), ulps=0),
    Row("numpy.broadcast_to", (case(X(3), (2, 3)), case(X(2, 1), (2, 3))), ANY, 0),
    Row("numpy.broadcast_arrays", (case(X(3), X(2, 1)),), A_FEW, 0),
    Row("numpy.flip", (case(X(2, 3)), case(X(2, 3), 0)), A_FEW, 0),
    *rows("numpy.fliplr numpy.flipud numpy.rot90", (case(X(2, 3)),), ulps=0),
    Row(
        "numpy.roll",
        (case(X(2, 3), 1), case(X(2, 3), -2, 1), case(X(2, 3), (1, 2), (0, 1))),
        A_FEW,
        0,
    ),
    Row("numpy.repeat", (case(X(2, 3), 2), case(X(2, 3), 2, axis=1)), A_FEW, 0),
    Row("numpy.tile", (case(X(2, 3), 2), case(X(3), (2, 1))), A_FEW, 0),
    Row(
        "numpy.pad",
        (
            case(X(2, 3), 1),
            case(X(3), (1, 2), constant_values=2),
            case(X(4), 2, mode="edge"),
            case(X(4), 2, mode="reflect"),
            case(X(4), 2, mode="wrap"),
            case(X(4), 2, mode="symmetric"),
        ),
        A_FEW,
        0,
    ),
    *rows("numpy.tril numpy.triu", (case(X(3, 3)), case(X(3, 4), 1)), ulps=0),
    *rows("numpy.diagonal", (case(X(3, 4)), case(X(3, 3), 1)), ulps=0),
    *rows("numpy.diag", (case(X(3)), case(X(3, 3)), case(X(3), 1)), ulps=0),
    Row("numpy.diagflat", (case(X(3)),), ulps=0),
    Row("numpy.trace", (case(X(3, 3)), case(X(3, 4), 1)), NUMBERS, 8, of_largest=True),
    Row("numpy.copy", (case(X(2, 3)),), ANY, 0),
    Row(
        "numpy.astype", (case(X(2, 3), "float32"), case(X(2, 3), "float64")), ("int32", *FLOATS), 0
    ),
    Row("numpy.resize", (case(X(2, 3), (3, 4)),), A_FEW, 0),
    Row("numpy.unstack", (case(X(2, 3)), case(X(2, 3), axis=1)), A_FEW, 0),
    # ---- several arrays
    Row("numpy.concatenate", (case([X(2), X(3)]), case([X(2, 3), X(2, 1)], axis=1)), A_FEW, 0),
    Row("numpy.concat", (case([X(2), X(3)]), case([X(2, 3), X(2, 1)], axis=1)), A_FEW, 0),
    Row("numpy.stack", (case([X(3), X(3)]), case([X(2, 3), X(2, 3)], axis=1)), A_FEW, 0),
    *rows("numpy.hstack numpy.vstack numpy.dstack", (case([X(2, 3), X(2, 3)]),), ulps=0),
    Row("numpy.column_stack", (case([X(3), X(3)]),), ulps=0),
    Row("numpy.append", (case(X(3), X(2)), case(X(2, 3), X(1, 3), axis=0)), ulps=0),
    Row("numpy.block", (case([[X(2, 2), X(2, 1)], [X(1, 2), X(1, 1)]]),), ulps=0),
    Row("numpy.split", (case(X(6), 3), case(X(2, 5), [2, 3], axis=1)), ulps=0),
    Row("numpy.array_split", (case(X(7), 3),), ulps=0),
    *rows("numpy.hsplit", (case(X(2, 4), 2),), ulps=0),
    *rows("numpy.vsplit", (case(X(4, 2), 2),), ulps=0),
    Row("numpy.dsplit", (case(X(2, 2, 4), 2),), ulps=0),
    Row("numpy.meshgrid", (case(X(2), X(3)), case(X(2), X(3), indexing="ij")), ulps=0),
    # ---- lax
    Row("lax.reshape", (case(X(2, 6), (3, 4)),), A_FEW, 0),
    Row("lax.transpose", (case(X(2, 3, 4), (1, 0, 2)),), A_FEW, 0),
    Row("lax.broadcast", (case(X(3), (2,)),), A_FEW, 0),
    Row(
        "lax.broadcast_in_dim", (case(X(3), (2, 3), (1,)), case(X(2, 1), (2, 3), (0, 1))), A_FEW, 0
    ),
    Row("lax.broadcast_like", (case(X(3), X(2, 3, fixed=True)),), A_FEW, 0),
    Row("lax.broadcast_to_rank", (case(X(3), 2),), A_FEW, 0),
    Row("lax.tile", (case(X(2, 3), (2, 1)),), A_FEW, 0),
    Row("lax.split", (case(X(5), (2, 3)), case(X(2, 4), (1, 3), 1)), A_FEW, 0),
    Row("lax.stack", (case([X(3), X(3)]), case([X(3), X(3)], 1)), A_FEW, 0),
    Row("lax.unstack", (case(X(2, 3)), case(X(2, 3), 1)), A_FEW, 0),
    Row("lax.expand_dims", (case(X(2, 3), (1,)),), A_FEW, 0),
    Row("lax.squeeze", (case(X(1, 3), (0,)),), A_FEW, 0),
    Row("lax.collapse", (case(X(2, 3, 4), 0, 2),), A_FEW, 0),
    Row("lax.rev", (case(X(2, 3), (1,)),), A_FEW, 0),
    Row("lax.concatenate", (case([X(2, 3), X(1, 3)], 0),), A_FEW, 0),
    Row(
        "lax.pad",
        (case(X(2, 3), X(), ((1, 0, 0), (0, 2, 1))), case(X(4), X(), ((-1, 1, 0),))),
        FLOATS,
        0,
    ),
    Row(
        "lax.convert_element_type",
        (case(X(2, 3), "float32"), case(X(3), "complex128")),
        ("int32", "bool", *FLOATS),
        0,
    ),
    Row("lax.select", (case(B(2, 3), X(2, 3), X(2, 3)),), A_FEW, 0),
    Row("lax.select_n", (case(B(2, 3), X(2, 3), X(2, 3)),), A_FEW, 0),
    Row("lax.full_like", (case(X(2, 3), 2),), A_FEW, 0),
    Row("lax.stop_gradient", (case(X(2, 3)),), FLOATS, 0, not_differentiable="it stops gradients"),
)
