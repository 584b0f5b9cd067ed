"""Least squares: the gradient everybody has derived by hand once.

∂loss/∂wᵢ = (1/10)·Σⱼ Xⱼᵢ·rⱼ      where rᵢ = Σⱼ Xᵢⱼ·wⱼ − tᵢ
"""

import symgrad as sg

sg.manual_seed(1)
X = sg.randn(20, 3)
t = sg.randn(20)
w = sg.zeros(3, requires_grad=True)

r = X @ w - t
loss = (r**2).mean()

print(sg.formula(loss, wrt=w))
