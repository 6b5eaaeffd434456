"""What runs beside student code: it runs an answer on an exercise's cases and writes down what happened.

Nothing here knows what is right. What it writes crosses to `anatomy.engine.judging` as JSON and safetensors.
"""

GRADING_SEED = "ANATOMY_GRADING_SEED"
"""The environment variable by which the grader asks a kernel to observe only, with these seeds (comma-separated)."""
