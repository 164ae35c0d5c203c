# SPDX-License-Identifier: MIT
"""The feature cells of docs/comparison.md that Python libraries give:  python3 features.py scipy|torch|jax"""
import sys
import warnings

import numpy as np

warnings.simplefilter("ignore")


def show(name, compute):
    try:
        result = " ".join(str(compute()).split())
    except Exception as e:
        result = "no: " + type(e).__name__ + " " + str(e).split("\n")[0]
    print(f"{name:34} {result}")


if sys.argv[1] == "scipy":
    import scipy
    from scipy.special import log_softmax, logsumexp, softmax
    print("scipy", scipy.__version__, "numpy", np.__version__)
    x = np.ones((2, 3, 4))
    show("logsumexp, two axes", lambda: logsumexp(x, axis=(0, 2)).shape)
    show("softmax, two axes", lambda: softmax(x, axis=(0, 2)).shape)
    show("log_softmax, two axes", lambda: log_softmax(x, axis=(0, 2)).shape)
    show("softmax, out", lambda: softmax(x, out=x))
    show("weights and sign", lambda: logsumexp([1, 2], b=[1, -3], return_sign=True))
    show("complex", lambda: logsumexp([1 + 2j, 1j]))
    show("float16", lambda: softmax(np.ones(512, "float16")).dtype)
    show("segments", lambda: np.logaddexp.reduceat(np.zeros(4), [0, 1]))
    show("base 2", lambda: np.logaddexp2(1, 1))
elif sys.argv[1] == "torch":
    import torch
    print("torch", torch.__version__)
    x, y = torch.ones(2, 3, 4), torch.tensor([1.0, 2.0])
    keep = torch.tensor([False, True])
    show("logsumexp, two axes", lambda: tuple(torch.logsumexp(x, (0, 2)).shape))
    show("softmax, two axes", lambda: torch.softmax(x, (0, 2)))
    show("softmax, out", lambda: torch.softmax(x, 0, out=torch.empty(2, 3, 4)).shape)
    show("masked softmax", lambda: torch.masked.softmax(y, 0, mask=keep))
    show("masked softmax, nothing kept", lambda: torch.masked.softmax(y, 0, mask=keep & False))
    show("complex", lambda: torch.logsumexp(torch.tensor([1 + 2j, 1j]), 0))
    show("bfloat16", lambda: torch.softmax(x[0, 0].bfloat16(), 0).dtype)
    show("base 2", lambda: torch.logaddexp2(y, y))
    show("Hessian", lambda: torch.autograd.functional.hessian(lambda z: torch.logsumexp(z, 0), y))
    q = torch.ones(1, 1, 1, 4)
    attention = torch.nn.functional.scaled_dot_product_attention
    show("attention", lambda: attention(q, q, q))
    show("attention, no key to see", lambda: attention(q, q, q, attn_mask=torch.zeros(1, 1, 1, 1, dtype=torch.bool)))
    show("attention, a key of NaN, masked", lambda: attention(q, q / 0 * 0, q, attn_mask=torch.zeros(1, 1, 1, 1, dtype=torch.bool)))
else:
    import jax
    print("jax", jax.__version__)
    x, y, keep = jax.numpy.ones((2, 3, 4)), jax.numpy.array([1.0, 2.0]), jax.numpy.array([False, True])
    show("softmax, two axes", lambda: jax.nn.softmax(x, axis=(0, 2)).shape)
    show("masked softmax", lambda: jax.nn.softmax(y, where=keep))
    show("masked softmax, nothing kept", lambda: jax.nn.softmax(y, where=keep & False))
    show("logmeanexp", lambda: jax.nn.logmeanexp(y))
    show("Hessian", lambda: jax.hessian(jax.nn.logsumexp)(y))
