"""fctree.torch.TreeEnsembleLayer, where PyTorch is installed."""

import copy
import io
import subprocess
import sys

import numpy as np
import pytest
from reference import literal_soft_trees as literal

torch = pytest.importorskip("torch")

from fctree.torch import TreeEnsembleLayer, _in_torch  # noqa: E402


def layer_and_samples(dtype=torch.float64, n=20, **settings):
    torch.manual_seed(0)
    options = {"n_trees": 3, "depth": 3, **settings}
    layer = TreeEnsembleLayer(5, 2, **options, dtype=dtype)
    torch.nn.init.normal_(layer.leaf_weights)
    return layer, torch.randn(n, 5, dtype=dtype)


@pytest.mark.parametrize("routing", ["smooth_step", "logistic"])
@pytest.mark.parametrize("depth", [1, 3, 6])
@pytest.mark.parametrize("gamma", [0.05, 1.0, 8.0])
def test_output_and_gradients_are_those_of_torch(routing, depth, gamma):
    layer, x = layer_and_samples(routing=routing, depth=depth, gamma=gamma)
    x.requires_grad_()
    weights = (layer.split_weights, layer.leaf_weights)
    ours = layer(x)
    theirs = _in_torch(x, *weights, routing, gamma)
    by_out = torch.randn_like(ours)
    inputs = (x, *weights)
    # Float64, sums in another order; slopes up to 1.5 / gamma multiply the rounding.
    torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-12)
    for a, b in zip(
        torch.autograd.grad(ours, inputs, by_out),
        torch.autograd.grad(theirs, inputs, by_out),
        strict=True,
    ):
        torch.testing.assert_close(a, b, rtol=1e-8, atol=1e-9)


def test_output_is_the_paper_s():
    layer, x = layer_and_samples()
    expected = literal.dense_forward(
        x.numpy(), layer.split_weights.detach().numpy(), layer.leaf_weights.detach().numpy(),
        "smooth_step",
    )
    np.testing.assert_allclose(layer(x).detach().numpy(), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("routing", ["smooth_step", "logistic"])
@pytest.mark.parametrize("depth", [2, 4])
def test_gradcheck(routing, depth):
    layer, x = layer_and_samples(n=4, n_trees=2, depth=depth, routing=routing)
    x.requires_grad_()

    def call(x, splits, leaves):
        parameters = {"split_weights": splits, "leaf_weights": leaves}
        return torch.func.functional_call(layer, parameters, (x,))

    assert torch.autograd.gradcheck(
        call, (x, layer.split_weights, layer.leaf_weights), atol=1e-5, rtol=1e-4
    )


@pytest.mark.parametrize("depth", [3, 6])
def test_backward_twice(depth):
    layer, x = layer_and_samples(depth=depth)
    out = layer(x).square().sum()
    first = torch.autograd.grad(out, layer.split_weights, retain_graph=True)[0]
    second = torch.autograd.grad(out, layer.split_weights)[0]
    torch.testing.assert_close(first, second, rtol=0, atol=0)


def test_gradients_of_gradients_are_refused():
    """Also where the gradient that arrives is a constant, which PyTorch's own check lets pass."""
    layer, x = layer_and_samples()
    x.requires_grad_()
    with pytest.raises(RuntimeError, match="differentiated again"):
        torch.autograd.grad(layer(x).sum(), x, create_graph=True)


def test_float32():
    double, x = layer_and_samples()
    single = copy.deepcopy(double).float()
    torch.testing.assert_close(single(x.float()), double(x).float(), rtol=1e-4, atol=1e-4)
    with pytest.raises(TypeError, match="float32"):
        double(x.float())


@pytest.mark.parametrize("given", ["float16", "bfloat16", "int32", "bool", "complex64", "float32"])
@pytest.mark.parametrize("own", ["float64", "float16"])
def test_other_types_are_refused(own, given):
    if own == given:
        return
    layer, x = layer_and_samples()
    layer = layer.to(getattr(torch, own))
    with pytest.raises(TypeError, match=rf"x is torch\.{given}, but the layer takes torch\.{own}"):
        layer(x.to(getattr(torch, given)))


def test_autocast_takes_both_types():
    layer, x = layer_and_samples(torch.float32)
    with torch.autocast("cpu"):
        assert layer(x.bfloat16()).dtype == torch.bfloat16


def test_state_dict_and_deepcopy():
    layer, x = layer_and_samples()
    buffer = io.BytesIO()
    torch.save(layer.state_dict(), buffer)
    buffer.seek(0)
    other = TreeEnsembleLayer(5, 2, n_trees=3, depth=3, dtype=torch.float64)
    other.load_state_dict(torch.load(buffer, weights_only=True))
    assert set(layer.state_dict()) == {"split_weights", "leaf_weights"}
    for same in (other, copy.deepcopy(layer)):
        torch.testing.assert_close(same(x), layer(x), rtol=0, atol=0)


def test_in_a_network():
    """After batch normalisation and convolutions, trained by torch."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.BatchNorm1d(144),
        TreeEnsembleLayer(144, 3, depth=4),
    )
    x, y = torch.randn(90, 1, 8, 8), torch.arange(90) % 3
    x += y[:, None, None, None].float()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    losses = []
    for _ in range(30):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.3 * losses[0]
    assert all(parameter.grad.abs().sum() > 0 for parameter in model.parameters())


@pytest.mark.filterwarnings("ignore")
def test_compile_does_not_break_it():
    layer, x = layer_and_samples()
    x.requires_grad_()
    compiled = torch.compile(torch.nn.Sequential(layer, torch.nn.Tanh()), backend="eager")
    out = compiled(x)
    torch.testing.assert_close(out, torch.tanh(layer(x)))
    out.sum().backward()
    assert x.grad.abs().sum() > 0


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("depth", [1, 3])
def test_it_is_exported_with_its_input(depth):
    layer, x = layer_and_samples(depth=depth)
    other = torch.randn(31, 5, dtype=x.dtype)
    exported = torch.export.export(layer, (x,), dynamic_shapes=({0: torch.export.Dim("n", min=2)},)).module()
    for written in (exported, torch.jit.trace(layer, (x,))):
        torch.testing.assert_close(written(other), layer(other), rtol=1e-10, atol=1e-12)


@pytest.mark.filterwarnings("ignore")
def test_it_is_exported_to_onnx(tmp_path):
    pytest.importorskip("onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    layer, x = layer_and_samples(torch.float32)
    path = str(tmp_path / "layer.onnx")
    torch.onnx.export(layer, (x,), path, dynamo=False, input_names=["x"], dynamic_axes={"x": {0: "n"}})
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    other = torch.randn(31, 5)
    (found,) = session.run(None, {"x": other.numpy()})
    np.testing.assert_allclose(found, layer(other).detach().numpy(), rtol=1e-5, atol=1e-5)


def test_shapes_of_samples():
    layer, x = layer_and_samples()
    torch.testing.assert_close(layer(x.reshape(4, 5, 5)), layer(x).reshape(4, 5, 2))
    torch.testing.assert_close(layer(x[0]), layer(x)[0])
    torch.testing.assert_close(layer(x.T.contiguous().T), layer(x))
    empty = layer(x[:0])
    assert empty.shape == (0, 2)
    empty.sum().backward()
    assert not layer.split_weights.grad.any()
    for other in (x[:, :4], x[0, 0]):
        with pytest.raises(ValueError, match="in_features=5"):
            layer(other)


def test_nan_goes_through():
    layer, x = layer_and_samples()
    x[3, 0] = torch.nan
    np.testing.assert_array_equal(torch.isnan(layer(x)).any(dim=1).numpy(), np.arange(20) == 3)


def test_changed_weights_are_noticed():
    layer, x = layer_and_samples()
    out = layer(x).sum()
    with torch.no_grad():
        layer.leaf_weights += 1.0
    with pytest.raises(RuntimeError, match="inplace operation"):
        out.backward()


@pytest.mark.parametrize(
    ("settings", "named"),
    [({"depth": 16}, "depth"), ({"depth": 0}, "depth"), ({"gamma": 0.0}, "gamma"),
     ({"n_trees": 1.5}, "n_trees"), ({"routing": "hard"}, "routing")],
)
def test_bad_parameters(settings, named):
    with pytest.raises(ValueError, match=named):
        TreeEnsembleLayer(3, 1, **settings)


def test_sizes_of_numpy():
    assert TreeEnsembleLayer(*np.array([4, 3, 5, 2]))(torch.zeros(2, 4)).shape == (2, 3)


def test_repr():
    assert "depth=3, gamma=1.0" in repr(layer_and_samples()[0])


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_cuda_agrees_with_cpu():
    layer, x = layer_and_samples()
    on_device = copy.deepcopy(layer).cuda()
    torch.testing.assert_close(on_device(x.cuda()).cpu(), layer(x))


def test_fctree_does_not_import_torch():
    code = "import sys, fctree; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
