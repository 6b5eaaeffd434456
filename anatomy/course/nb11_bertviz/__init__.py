"""11 · BertViz: what heads look at."""
