"""The compiled modules: thin bindings of the C++ core in ``native/``, no algorithm."""
