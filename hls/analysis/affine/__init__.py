"""Affine forms of addresses, delinearization, floor divisions, iteration domains."""
