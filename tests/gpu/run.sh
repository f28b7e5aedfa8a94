#!/usr/bin/env bash
# On a machine with a CUDA device: the programs, the operations and the laws on real CuPy, the laws
# of jit with every Program compiled to kernels as well, and what these gain.
#   OUT=folder bash tests/gpu/run.sh          # junit files and logs go to $OUT
#   BACKEND=cupy-sim SCALE=20 bash tests/gpu/run.sh    # every line of it, with no device
# Nothing is installed or fetched. Parts have time limits: all of it takes less than 6 minutes; the
# processor that simulates a device, shared perhaps, has longer to collect and to end its last test.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
BACKEND=${BACKEND:-cupy} PYTHON=${PYTHON:-python3} JOBS=${JOBS:-$(nproc)}
OUT=${OUT:-$(mktemp -d)}
mkdir -p "$OUT"
export PYTHONPATH="$PWD:$PWD/backends:$PWD/conformance${PYTHONPATH:+:$PYTHONPATH}"
export PYTHONDONTWRITEBYTECODE=1 XLA_PYTHON_CLIENT_PREALLOCATE=false
export ARRAYPORT_TEST_BACKENDS="$BACKEND"

"$PYTHON" tests/gpu/device.py "$BACKEND" || exit 2

GRACE=25
[[ $BACKEND == cupy-sim ]] && GRACE=180

# Name, seconds after which no further test begins, and what pytest is told.
part() {
    local name=$1 seconds=$2
    shift 2
    STOP_AFTER=$seconds timeout -k 10 $((seconds + GRACE)) "$PYTHON" -m pytest -q -n "$JOBS" \
        -c pyproject.toml -p tests.gpu.limits -p no:cacheprovider --junitxml "$OUT/$name.xml" \
        "$@" >"$OUT/$name.log" 2>&1
    echo $? >"$OUT/$name.rc"
}

S=${SCALE:-100} # per cent of the time
part programs $((75 * S / 100)) tests/programs --ignore tests/programs/test_examples.py
part operations $((75 * S / 100)) tests/ops tests/random tests/backends/cupy
part laws $((80 * S / 100)) tests/laws/test_laws.py -k "same or jit"
part compiled $((50 * S / 100)) -p tests.gpu.at_once tests/laws/test_laws.py -k jit

ROWS=16384
[[ $BACKEND == cupy-sim ]] && ROWS=64
timeout 40 "$PYTHON" -m tests.gpu.kernels "$BACKEND" "$ROWS" | tee "$OUT/kernels.txt"
KERNELS=${PIPESTATUS[0]}

"$PYTHON" tests/gpu/summary.py "$OUT" programs operations laws compiled && exit "$KERNELS"
