"""The judge as a service: students' kernels observe and send what they saw; the verdict is reached here.

No student code runs here. What arrives is read as in grading: JSON and safetensors, never pickle.
"""
