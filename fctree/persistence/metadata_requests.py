"""Metadata requests of scikit-learn (``set_fit_request``) as plain values."""

from fctree._native_input import require

ATTRIBUTE = "_metadata_request"


def plain_requests(estimator):
    """The requests of each method, as a dict of dicts."""
    methods = vars(estimator.get_metadata_routing()).items()
    return {name: dict(method.requests) for name, method in methods if getattr(method, "requests", None)}


def set_requests(estimator, requests):
    """Set the requests that `plain_requests` gave; ValueError if they are not those of such an estimator."""
    routing = estimator.get_metadata_routing()
    known = plain_requests(estimator)
    require(type(requests) is dict, "metadata requests are not a dict")
    for method, wanted in requests.items():
        require(method in known, f"metadata requests name a method {method!r}")
        require(type(wanted) is dict, f"metadata requests of {method} are not a dict")
        for argument, alias in wanted.items():
            require(argument in known[method], f"{method} has no argument {argument!r} to request")
            valid = alias is None or type(alias) is bool or (type(alias) is str and alias.isidentifier())
            require(valid, f"the metadata request of {argument} for {method} is {alias!r}")
            getattr(routing, method).add_request(param=argument, alias=alias)
    vars(estimator)[ATTRIBUTE] = routing
