"""Compositions: functions of nodes that more than one framework has.

A frontend's row for one is a name, a promotion of dtypes, an order of arguments and its errors.
Operands have one dtype unless a docstring says otherwise. What a docstring calls known is a value
of the host's while recording; everything else is data.
"""
