"""Canvas components: one folder each, drawing in the browser what is as large as a sentence squared."""
