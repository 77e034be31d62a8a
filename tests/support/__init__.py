"""What several test files share.

- ``zoo``, ``column_models``: models of every form, by name and as lines of text
- ``fit_cases``, ``native_cases``, ``joint_fit``: fits with a known truth, fits of every kind, and
  a joint fit by SciPy alone
- ``op_formulas``: an exact formula of every row of the op table
- ``random_models``: models from a seed, and what must hold for each
- ``files``: files of every format, by writers of their own
- ``drawn``: what a figure shows, read back from it
"""
