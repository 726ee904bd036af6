"""Models as files: one versioned file that holds numbers and text and nothing to execute.

``archive`` is the file (a zip of npy members and a JSON header, with a digest of it all),
``encoding`` and ``random_streams`` turn values into JSON and arrays and back, ``registry``
says which classes can be stored, ``checks`` raises an error unless the content describes a model,
``model_file`` puts them together. docs/guide/model_files.md describes the format.
"""

from fctree.persistence.model_file import load_model, save_model

__all__ = ["load_model", "save_model"]
