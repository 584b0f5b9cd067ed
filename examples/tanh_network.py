"""A network with one hidden layer of tanh: backpropagation, written out.

∂loss/∂Vᵢⱼ = (1/5)·wⱼ·Σₖ Xₖᵢ·eₖ·(1 − hₖⱼ²)      where hᵢⱼ = tanh(Σₖ Xᵢₖ·Vₖⱼ + bⱼ), pᵢ = Σⱼ wⱼ·hᵢⱼ, eᵢ = pᵢ − yᵢ
∂loss/∂bᵢ = (1/5)·wᵢ·Σⱼ eⱼ·(1 − hⱼᵢ²)      where hᵢⱼ = tanh(Σₖ Xᵢₖ·Vₖⱼ + bⱼ), pᵢ = Σⱼ wⱼ·hᵢⱼ, eᵢ = pᵢ − yᵢ
∂loss/∂wᵢ = (1/5)·Σⱼ hⱼᵢ·eⱼ      where hᵢⱼ = tanh(Σₖ Xᵢₖ·Vₖⱼ + bⱼ), pᵢ = Σⱼ wⱼ·hᵢⱼ, eᵢ = pᵢ − yᵢ
"""

import symgrad as sg

sg.manual_seed(3)
X = sg.randn(10, 2)
y = sg.randn(10)
V = sg.randn(2, 4, requires_grad=True)
b = sg.zeros(4, requires_grad=True)
w = sg.randn(4, requires_grad=True)

h = sg.tanh(X @ V + b)
p = h @ w
e = p - y
loss = (e**2).mean()

print(sg.formula(loss, wrt=[V, b, w]))
