"""Right answers to 02-linear-regression, written differently: none yet."""
