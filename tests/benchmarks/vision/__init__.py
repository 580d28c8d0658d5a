"""Compare our reader with Tesseract, RapidOCR and zxing-cpp, on the same pictures and crops in the same run."""
