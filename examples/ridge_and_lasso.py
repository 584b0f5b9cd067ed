"""Ridge and lasso: two penalties, and what each adds to the gradient. The lasso has a kink at wᵢ = 0.

∂ridge/∂wᵢ = 2·(Σⱼ Xⱼᵢ·rⱼ + λ·wᵢ)      where rᵢ = Σⱼ Xᵢⱼ·wⱼ − tᵢ
∂lasso/∂wᵢ = Σⱼ Xⱼᵢ·rⱼ + λ·sign(wᵢ)      where rᵢ = Σⱼ Xᵢⱼ·wⱼ − tᵢ
"""

import symgrad as sg

sg.manual_seed(4)
X = sg.randn(12, 3)
t = sg.randn(12)
w = sg.randn(3, requires_grad=True)
lam = sg.tensor(0.1)

r = X @ w - t
ridge = (r**2).sum() + lam * (w**2).sum()
lasso = (r**2).sum() / 2 + lam * sg.abs(w).sum()

print(sg.formula(ridge, wrt=w))
print(sg.formula(lasso, wrt=w))
