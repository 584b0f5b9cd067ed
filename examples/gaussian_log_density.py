"""The log-density of a normal sample: its maximum is where these two lines are 0.

∂l/∂μ = (Σᵢ dᵢ − 7·μ)/σ²
∂l/∂σ = (Σᵢ (dᵢ − μ)²)/σ³ − 7/σ
"""

import math

import symgrad as sg

d = sg.tensor([4.1, 5.0, 3.8, 4.6, 4.4, 5.2, 4.9])
mu = sg.tensor(4.0, requires_grad=True)
sigma = sg.tensor(1.0, requires_grad=True)

l = (-(((d - mu) / sigma) ** 2) / 2 - sg.log(sigma) - math.log(2 * math.pi) / 2).sum()

print(sg.formula(l, wrt=[mu, sigma]))
