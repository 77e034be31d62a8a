"""The same model fitted many times: to many measurements, or from many start values."""
