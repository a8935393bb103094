"""From torch's calls to rows: kernels, promotion, memos, fallbacks, refusals."""
