"""What docs/api/torch.md shows is what comes out; and docstrings, as in test_reference.py."""

import doctest
import pathlib
import sys
import unittest

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "api" / "torch.md"
failed, tried = doctest.testfile(str(PAGE), module_relative=False)
found = unittest.main("test_reference", argv=["", "Reference.test_docstrings"], exit=False).result
sys.exit(failed > 0 or tried < 10 or not found.wasSuccessful())
