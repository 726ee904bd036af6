"""Files that are no longer, or never were, what save_model wrote."""

import io
import pickle

import joblib
import numpy as np
import pytest
from fctree import save_model
from robustness.forged_model_files import MODELS, RNG, refused


@pytest.fixture(params=MODELS)
def path(request, tmp_path):
    save_model(MODELS[request.param], tmp_path / "model")
    return tmp_path / "model"


def test_cut_short(path):
    content = path.read_bytes()
    for length in [*range(0, len(content), 211), *range(len(content) - 150, len(content))]:
        refused(path, content[:length], "cut short|not a model file")


def test_altered_bytes(path):
    content = path.read_bytes()
    places = [*range(0, len(content), 127), *range(len(content) - 150, len(content), 2)]
    for place in places:
        for mask in (0x01, 0x20, 0xFF):
            altered = bytearray(content)
            altered[place] ^= mask
            refused(path, bytes(altered))


def test_lost_added_and_exchanged_pieces(path):
    content = path.read_bytes()
    middle = len(content) // 2
    for added in (b"\0", b"PK\x05\x06", content):
        refused(path, content + added)
        refused(path, added + content)
        refused(path, content[:middle] + added + content[middle:])
    refused(path, content[:middle] + content[middle + 1 :], "altered")
    refused(path, content[middle:] + content[:middle])
    refused(path, content[:100] + bytes(512) + content[612:], "altered")


def test_files_of_others(tmp_path):
    model = MODELS["oblique"]
    arrays = io.BytesIO()
    np.savez(arrays, coef=model.tree_.coef)
    array = io.BytesIO()
    np.save(array, model.tree_.coef)
    stored = io.BytesIO()
    joblib.dump(model, stored)
    foreign = [b"", b"{}", b"PK", b"PK\x05\x06" + bytes(18), RNG.bytes(1000), pickle.dumps(model)]
    foreign += [arrays.getvalue(), array.getvalue(), stored.getvalue()]
    for content in foreign:
        refused(tmp_path / "model", content, "not a model file|another program")
