"""Every public name has a docstring that explains its arguments, and python/reference.sh makes pages of them."""

import importlib
import inspect
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "python" / "reference.sh"
# Said once for a module or class of this name, or by the names themselves.
EXPLAINED = {"self", "cls", "deep", "params", "path", "text", "model"}


def modules():
    found = []
    for name in ("semicrf", "semicrf.torch", "semicrf.jax"):
        try:
            found.append(importlib.import_module(name))
        except ImportError:
            print("not installed: " + name.split(".")[1])
    return found


def public(module):
    """Names, objects and the docstrings around them."""
    for name in getattr(module, "__all__", None) or [n for n, one in vars(module).items() if getattr(one, "__module__", "") == module.__name__]:
        if name.startswith("_"):
            continue
        one = getattr(module, name)
        yield f"{module.__name__}.{name}", one, module.__doc__ or ""
        if inspect.isclass(one):
            around = (module.__doc__ or "") + (one.__doc__ or "")
            for member, value in vars(one).items():
                if member.startswith("_") or not (callable(value) or isinstance(value, (property, classmethod, staticmethod))):
                    continue
                yield f"{module.__name__}.{name}.{member}", getattr(value, "__func__", value), around


class Reference(unittest.TestCase):
    def test_docstrings(self):
        for module in modules():
            functions = [one for _, one, _ in public(module) if inspect.isfunction(one)]
            beside = " ".join(one.__doc__ or "" for one in functions if one.__module__ == module.__name__)
            for name, one, around in public(module):
                with self.subTest(name=name):
                    own = inspect.getdoc(one) or ""
                    self.assertTrue(own, "no docstring")
                    if inspect.isfunction(one):
                        explained = own + around + (beside if "as for `" in own + around else "")
                        missing = [p for p in inspect.signature(one).parameters
                                   if p not in EXPLAINED and not re.search(rf"\b{p}\b", explained)]
                        self.assertEqual(missing, [], "arguments without a word")

    def test_pages(self):
        if subprocess.run([sys.executable, "-c", "import pdoc"], capture_output=True).returncode != 0:
            self.skipTest("pdoc is not installed")
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([SCRIPT, folder], env={**os.environ, "PYTHON": sys.executable}, check=True)
            page = (pathlib.Path(folder) / "semicrf.html").read_text(encoding="utf-8")
            for word in ("log_partition", "k_best", "HSMM", "natural logarithms"):
                self.assertIn(word, page)


if __name__ == "__main__":
    unittest.main()
