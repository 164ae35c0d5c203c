# SPDX-License-Identifier: MIT
"""The cells of docs/comparison.md that Python libraries give:  python3 edges.py scipy|torch|jax"""
import math
import sys
import warnings

import numpy as np

warnings.simplefilter("ignore")
np.seterr(all="ignore")
inf, nan, most = math.inf, math.nan, sys.float_info.max
library = sys.argv[1]

if library == "scipy":
    import scipy
    from scipy import special
    version, array = scipy.__version__, lambda x, t="float64": np.asarray(x, dtype=t)
    logsumexp, softmax, log_softmax = special.logsumexp, special.softmax, special.log_softmax
    logaddexp, cumulative = np.logaddexp, np.logaddexp.accumulate
elif library == "torch":
    import torch
    version = torch.__version__
    array = lambda x, t="float64": torch.tensor(x, dtype=getattr(torch, t))
    logsumexp, softmax, log_softmax = (lambda x, f=f: f(x, 0) for f in (torch.logsumexp, torch.softmax, torch.log_softmax))
    logaddexp, cumulative = torch.logaddexp, lambda x: torch.logcumsumexp(x, 0)
else:
    import jax
    jax.config.update("jax_enable_x64", True)
    version, array = jax.__version__, lambda x, t="float64": jax.numpy.asarray(x, dtype=t)
    logsumexp, softmax, log_softmax = jax.scipy.special.logsumexp, jax.nn.softmax, jax.nn.log_softmax
    logaddexp, cumulative = jax.numpy.logaddexp, jax.lax.cumlogsumexp


def show(name, compute):
    try:
        x = compute()
        x = tuple(np.asarray(v).tolist() for v in x) if isinstance(x, tuple) else np.asarray(x).tolist()
    except Exception as e:
        x = "refused: " + str(e).split("\n")[0]
    print(f"{name:42} {x}")


print(library, version)
for x in ([], [-inf, -inf], [inf, 1], [inf, inf], [nan, 1], [inf, nan], [0, -40], [most, most]):
    show(f"logsumexp {x}", lambda: logsumexp(array(x)))
show("logsumexp of 2^25 zeros, float", lambda: logsumexp(array(np.zeros(2**25), "float32")))
show("logsumexp of integers 1 2 3", lambda: logsumexp(array([1, 2, 3], "int64")))
for x in ([], [-inf, -inf], [inf, 1], [inf, inf, 0], [nan, 1], [most, -most]):
    show(f"softmax {x}", lambda: softmax(array(x)))
show("softmax 0 and eight -inf", lambda: softmax(array([0] + 8 * [-inf])))
for x in ([inf, 1], [0, -40], [1e16, 1e16]):
    show(f"log_softmax {x}", lambda: log_softmax(array(x)))
for a, b in ((-inf, 5.0), (5.0, -inf), (-inf, -inf), (inf, inf), (inf, nan), (0.0, -40.0)):
    show(f"logaddexp {a} {b}", lambda: logaddexp(array(a), array(b)))
show("cumulative -inf 0 0", lambda: cumulative(array([-inf, 0, 0])))
for x, w in (([inf, 1], [0, 1]), ([1, 1], [1, -1]), ([], []), ([1000, 1000, 1], [1, -1, 1]), ([0, -800], [1e-300, 1e300])):
    if library != "torch":
        show(f"signed {x} {w}", lambda: logsumexp(array(x), b=array(w), return_sign=True))


def gradient(x):
    if library == "jax":
        return jax.grad(logsumexp)(array(x))
    if library == "torch":
        t = array(x).requires_grad_()
        logsumexp(t).backward()
        return t.grad
    raise TypeError("no gradients")


for x in ([1e16, 1e16], [-inf, -inf], [inf, 1]):
    show(f"gradient {x}", lambda: gradient(x))
# Largest relative error of an entry of softmax, in units of 2^-53, over 1000 numbers of a spread; the reference has 64 bits.
for spread in (1, 30, 700):
    x = np.array([(0.37 - (i * 7919) % 10007 / 10007.0) * spread for i in range(1000)])
    e = np.exp(x.astype(np.longdouble))
    p = e / e.sum()
    show(f"softmax error, spread {spread}", lambda: round(float((abs(np.asarray(softmax(array(x))) - p) / p).max() * 2**53), 1))
