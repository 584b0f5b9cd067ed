"""Rosenbrock's valley: gradient and curvature.

∂f/∂x = −2·(1 − x) − 400·x·(y − x²)
∂f/∂y = 200·(y − x²)
∂²f/∂x² = 800·x² − 400·(y − x²) + 2
"""

import symgrad as sg

x = sg.tensor(-1.2, requires_grad=True)
y = sg.tensor(1.0, requires_grad=True)

f = (1 - x) ** 2 + 100 * (y - x**2) ** 2

print(sg.formula(f, wrt=[x, y]))
print(sg.formula(f, wrt=(x, x)))
