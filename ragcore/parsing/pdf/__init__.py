"""PDF: runs of text to lines, columns, paragraphs and tables; without running lines; pictures by OCR."""
