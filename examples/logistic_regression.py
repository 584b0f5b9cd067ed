"""Logistic regression on the 23 shuttle flights before Challenger (Dalal, Fowlkes and Hoadley, JASA 84, 1989).

∂loss/∂a = (1/23)·Σᵢ (σ(zᵢ) − yᵢ)      where zᵢ = a + b·xᵢ
∂loss/∂b = (1/23)·Σᵢ xᵢ·(σ(zᵢ) − yᵢ)      where zᵢ = a + b·xᵢ
"""

import csv
from pathlib import Path

import symgrad as sg

with open(Path(__file__).parent / "data" / "challenger.csv") as file:
    flights = list(csv.DictReader(file))

x = sg.tensor([float(f["temperature"]) for f in flights])
y = sg.tensor([float(f["failed"]) for f in flights])
a = sg.tensor(15.0, requires_grad=True)
b = sg.tensor(-0.23, requires_grad=True)

z = a + b * x
loss = (sg.softplus(z) - y * z).mean()

print(sg.formula(loss, wrt=[a, b]))
