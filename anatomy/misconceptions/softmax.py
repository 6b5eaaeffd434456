"""Wrong answers to the exercises of 03-softmax."""
