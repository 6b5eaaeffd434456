"""What runs beside student code: it runs an answer on an exercise's cases and writes down what happened.

Nothing here knows what is right. What it writes crosses to `anatomy.judging` as JSON and safetensors.
"""
