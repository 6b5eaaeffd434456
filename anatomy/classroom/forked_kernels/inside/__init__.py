"""What runs inside the sandbox: the fork server, one supervisor for each kernel, the kernel.

Nothing here imports the rest of the package, which the sandbox does not show. Python's standard library is enough.
"""
