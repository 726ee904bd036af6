"""The exact state of NumPy's random number streams, as plain values."""

import numpy as np

_BIT_GENERATORS = {
    name: getattr(np.random, name) for name in ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
}
STREAM_CLASSES = {"RandomState": np.random.RandomState, "Generator": np.random.Generator}


def stream_state(stream):
    """State of a RandomState or a Generator, as a dict; TypeError for a bit generator that is not NumPy's.

    The seed sequence that a Generator was made with is not part of it: it matters only for spawning further
    generators.
    """
    if isinstance(stream, np.random.RandomState):
        state = stream.get_state(legacy=False)
    else:
        state = stream.bit_generator.state
    if not isinstance(state, dict) or state.get("bit_generator") not in _BIT_GENERATORS:
        raise TypeError("its bit generator is not one of NumPy's")
    return state


def restore_stream(class_name, state):
    """The RandomState or Generator with this state; ValueError if it is not one that `stream_state` gives."""
    if class_name not in STREAM_CLASSES:
        raise ValueError(f"there is no random stream called {class_name!r}")
    if not isinstance(state, dict) or state.get("bit_generator") not in _BIT_GENERATORS:
        raise ValueError("the state of a random stream names no bit generator of NumPy")
    _check_positions(state)
    bit_generator = _BIT_GENERATORS[state["bit_generator"]](0)
    try:
        if class_name == "Generator":
            bit_generator.state = state
            return np.random.Generator(bit_generator)
        stream = np.random.RandomState(bit_generator)
        stream.set_state(state)
    except (TypeError, KeyError, ValueError, OverflowError, IndexError) as error:
        raise ValueError(f"the state of a random stream is not valid: {error}") from error
    return stream


def _check_positions(state):
    """NumPy reads its buffers at these positions without looking at them."""
    kind = state["bit_generator"]
    inner = state.get("state")
    if not isinstance(inner, dict):
        raise ValueError("the state of a random stream is incomplete")
    if kind == "MT19937":
        key, position, limit = inner.get("key"), inner.get("pos"), 624
        valid = isinstance(key, np.ndarray) and key.shape == (624,) and key.dtype == np.uint32
    elif kind == "Philox":
        buffer, position, limit = state.get("buffer"), state.get("buffer_pos"), 4
        valid = isinstance(buffer, np.ndarray) and buffer.shape == (4,)
    else:
        return
    if not valid or type(position) is not int or not 0 <= position <= limit:
        raise ValueError("the state of a random stream points outside of its buffer")
