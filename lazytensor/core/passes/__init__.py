"""Passes: from a program to an equal one."""
