"""Cosine similarity: the gradient turns a towards c, and never along a.

∂s/∂aᵢ = cᵢ/(m·n) − aᵢ·(Σⱼ aⱼ·cⱼ)/(m³·n)      where m = √(Σᵢ aᵢ²)
"""

import symgrad as sg

a = sg.tensor([1.0, 2.0, -1.0], requires_grad=True)
c = sg.tensor([0.5, 1.0, 2.0])

m = sg.sqrt((a * a).sum())
n = sg.sqrt((c * c).sum())
s = (a * c).sum() / (m * n)

print(sg.formula(s, wrt=a))
