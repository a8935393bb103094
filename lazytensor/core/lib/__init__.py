"""Compositions: functions of nodes that more than one framework has.

A frontend's row for one is a name, a promotion of dtypes, an order of arguments and its errors.
"""
