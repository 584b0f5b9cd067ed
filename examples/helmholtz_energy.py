"""The Helmholtz energy of a mixed fluid, the classic test of differentiation by machine.

Baydin, Pearlmutter, Radul and Siskind, Automatic differentiation in machine learning: a survey, JMLR 18, 2018.

F = R·T·Σᵢ xᵢ·log(xᵢ/(1 − v)) − (1/2)·q·L/(s·v)
    where v = Σᵢ bᵢ·xᵢ
          q = Σᵢ xᵢ·Σⱼ Aᵢⱼ·xⱼ
          m = 1 + v·(1 − s)
          p = 1 + v·(s + 1)
          L = log(p/m)
∂F/∂xᵢ = bᵢ·v̄ − (1/2)·L·(Σⱼ Aⱼᵢ·xⱼ)/(s·v) + t₂[i]
    where v = Σᵢ bᵢ·xᵢ
          q = Σᵢ xᵢ·Σⱼ Aᵢⱼ·xⱼ
          m = 1 + v·(1 − s)
          p = 1 + v·(s + 1)
          L = log(p/m)
          t₁ = −(1/2)·q·m/(s·v·p)
          v̄ = t₁·(s + 1)/m − t₁·p·(1 − s)/m² + R·T·(Σᵢ xᵢ)/(1 − v) + (1/2)·L·q/(s·v²)
          t₂[i] = R·T − (1/2)·L·(Σⱼ Aᵢⱼ·xⱼ)/(s·v) + R·T·log(xᵢ/(1 − v))
"""

import symgrad as sg

R = sg.tensor(8.314)
T = sg.tensor(300.0)
x = sg.tensor([0.1, 0.2, 0.15], requires_grad=True)
b = sg.tensor([0.3, 0.5, 0.2])
A = sg.tensor([[0.4, 0.1, 0.2], [0.1, 0.5, 0.3], [0.2, 0.3, 0.6]])
s = sg.sqrt(sg.tensor(2.0))

v = b @ x
q = x @ (A @ x)
m = 1 + (1 - s) * v
p = 1 + (1 + s) * v
L = sg.log(p / m)
F = R * T * (x * sg.log(x / (1 - v))).sum() - q / (2 * s * v) * L

print(sg.formula(F))
print(sg.formula(F, wrt=x))
