"""Softmax cross-entropy: the gradient by the scores is softmax minus target.

∂loss/∂Zᵢⱼ = (1/6)·(exp(Zᵢⱼ)/Σₖ exp(Zᵢₖ) − Tᵢⱼ)      where Zᵢⱼ = Σₖ Xᵢₖ·Wₖⱼ
"""

import symgrad as sg

sg.manual_seed(2)
X = sg.randn(6, 3)
T = sg.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
W = sg.zeros(3, 2, requires_grad=True)

Z = X @ W
loss = (sg.logsumexp(Z, dim=1) - (T * Z).sum(dim=1)).mean()

print(sg.formula(loss, wrt=Z))
