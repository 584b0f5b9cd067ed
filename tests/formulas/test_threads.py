"""mpmath has one precision for the whole process: threads that want different digits take turns."""

import sys
from concurrent.futures import ThreadPoolExecutor

import mpmath

import symgrad as sg
from symgrad.verify import exact_gradient


def test_each_thread_gets_the_digits_it_asked_for() -> None:
    own = mpmath.MPContext()
    own.dps = 120

    def work(k: int) -> int:
        wrong, digits = 0, 20 + 10 * k
        at = 1.0 + k / 7
        v = own.mpf(at)
        right = own.exp(own.sin(v * v)) * own.cos(v * v) * 2 * v
        for _ in range(10):
            x = sg.tensor(at, requires_grad=True, name="x")
            y = sg.exp(sg.sin(x * x))
            for got in (sg.formula(y, wrt=x).evaluate(digits), exact_gradient(y, [x], digits=digits).gradients[0]):
                wrong += abs(own.mpf(got) - right) > abs(right) * own.mpf(10) ** (1 - digits)
        return wrong

    before, interval = mpmath.mp.dps, sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(work, range(8))) == [0] * 8
    finally:
        sys.setswitchinterval(interval)
    assert mpmath.mp.dps == before
