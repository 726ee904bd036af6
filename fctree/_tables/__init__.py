"""Tables with categories and missing values, as numbers.

``columns`` reads what users pass, ``statistics`` are those of the targets, ``encoder`` is what a
model keeps, ``estimators`` is what the families call.
"""
