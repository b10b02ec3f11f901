#!/usr/bin/env bash
# The API reference as HTML, from the docstrings.
# From the root of the repository, where the package and pdoc (PyPI) are installed:
#   python/reference.sh FOLDER
set -euo pipefail
modules=(semicrf)
for optional in torch jax; do
  "${PYTHON:-python3}" -c "import $optional" 2>/dev/null && modules+=("semicrf.$optional")
done
"${PYTHON:-python3}" -m pdoc --docformat google --no-show-source --output-directory "$1" "${modules[@]}"
