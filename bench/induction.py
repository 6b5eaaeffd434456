"""Is the textbook induction circuit there? Notebook 11's GPT of two layers with one head each, over five seeds.

    python bench/induction.py

For each seed: the letters right of those that can be looked up; the weight that layer 1 gives to tokens after an
earlier occurrence of its letter; the weight that layer 0 gives to the token before. A minute or two.
"""

from __future__ import annotations

from notebook_cells import run_cells

PERIODS, STEPS = (4, 23), 500


def main() -> None:
    names = run_cells("11-bertviz", "setup", "induction")
    for seed in range(5):
        right, wanted, before = names["measure_circuit"](names["learn_to_repeat"](32, PERIODS, 1, STEPS, seed))
        print(f"seed {seed}: {right:.1%} right; layer 1 on the token after: {wanted:.2f}; layer 0: {before:.2f}")


if __name__ == "__main__":
    main()
