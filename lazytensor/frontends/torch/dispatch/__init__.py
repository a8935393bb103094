"""From what torch calls to a row: kernels, promotion, memos, fallbacks, refusals."""
