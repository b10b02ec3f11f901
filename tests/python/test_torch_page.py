"""What docs/api/torch.md shows is what comes out."""

import doctest
import pathlib
import sys

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "api" / "torch.md"
failed, tried = doctest.testfile(str(PAGE), module_relative=False)
sys.exit(failed > 0 or tried < 10)
