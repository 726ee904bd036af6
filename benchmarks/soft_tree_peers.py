"""Dense soft trees as one would write them in torch: what conditional computation is compared with.

Each makes a function that computes the output of all trees for a batch and, with gradients, the
backward pass to the weights.
"""

import torch


def routed_products(x, splits):
    """<w, x> of all nodes as (n, n_trees, n_nodes): one matrix product."""
    n_trees, n_nodes, n_features = splits.shape
    return torch.matmul(x, splits.reshape(-1, n_features).T).reshape(len(x), n_trees, n_nodes)


def by_product(x, splits, leaves):
    """Probabilities level by level as products of logistic shares."""
    share = torch.sigmoid(routed_products(x, splits))
    reach = share.new_ones((len(x), len(splits), 1))
    while reach.shape[2] < leaves.shape[1]:
        width = reach.shape[2]
        left = reach * share[:, :, width - 1 : 2 * width - 1]
        reach = torch.stack([left, reach - left], dim=3).flatten(2)
    return torch.einsum("ntl,tlk->nk", reach, leaves)


def by_logarithm(x, splits, leaves):
    """Probabilities as sums of logarithms, with one exponential a leaf."""
    t = routed_products(x, splits)
    left, right = torch.nn.functional.logsigmoid(t), torch.nn.functional.logsigmoid(-t)
    reach = t.new_zeros((len(x), len(splits), 1))
    while reach.shape[2] < leaves.shape[1]:
        width = reach.shape[2]
        level = slice(width - 1, 2 * width - 1)
        reach = torch.stack(
            [reach + left[:, :, level], reach + right[:, :, level]], dim=3
        ).flatten(2)
    return torch.einsum("ntl,tlk->nk", reach.exp(), leaves)


def dense_layers(compiled):
    """The layers by name; compiling one takes half a minute a depth."""
    layers = {"torch product": by_product, "torch logarithm": by_logarithm}
    if compiled:
        layers["torch compiled"] = torch.compile(by_product, dynamic=False)
    return layers


def pass_calls(x, splits, leaves, compiled):
    """For each layer a forward pass, and one with the backward pass to the weights."""
    x, splits, leaves = (torch.from_numpy(array) for array in (x, splits, leaves))
    with_gradient = splits.clone().requires_grad_(), leaves.clone().requires_grad_()

    def both(layer):
        for weights in with_gradient:
            weights.grad = None
        layer(x, *with_gradient).sum().backward()

    def forward(layer):
        with torch.no_grad():
            return layer(x, splits, leaves)

    return {
        name: (lambda layer=layer: forward(layer), lambda layer=layer: both(layer))
        for name, layer in dense_layers(compiled).items()
    }
