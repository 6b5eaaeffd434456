"""01 · From text to vectors."""
