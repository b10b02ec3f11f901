#!/usr/bin/env python3
"""The recipes of contrib/conda: rendered and compared, and built without a channel.

    tests/package/conda.py [--build] [--env NAME=VALUE ...]

Needs py-rattler-build, jinja2 and PyYAML from Python's packages (pip install py-rattler-build==0.73.0 jinja2 pyyaml); exit code
77 where they are missing. --build builds the package for the processor with the compiler and the libraries of this machine in
place of the recipe's requirements, and runs its tests.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import jinja2
    import rattler_build
    import yaml
except ImportError as missing:
    print("skipped: %s (pip install py-rattler-build==0.73.0 jinja2 pyyaml)" % missing)
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECIPE = ROOT / "contrib" / "conda" / "semicrf"
# Names of conda's packages of what cmake/dependencies.cmake asks for.
PACKAGES = {"htslib": "htslib", "libdeflate": "libdeflate", "libhwy": "libhwy", "CLI11": "cli11",
            "fmt": "fmt", "spdlog": "spdlog", "nlohmann_json": "nlohmann_json", "LBFGSpp": "lbfgspp", "Eigen3": "eigen"}


def check(condition, message):
    if not condition:
        sys.exit("FAIL: " + message)


def project_version():
    return re.search(r"^project\(semicrf VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(), re.M).group(1)


def meta(platform):
    """meta.yaml for linux-64 or linux-aarch64, with conda-build's functions and selectors in place."""
    machine = {"linux-64": "x86_64", "linux-aarch64": "aarch64"}[platform]

    def is_for(line):
        selector = re.search(r"# \[(not )?(\w+)\]$", line)
        return not selector or (selector.group(2) in ("linux", machine)) != bool(selector.group(1))

    text = "\n".join(filter(is_for, (RECIPE / "meta.yaml").read_text().splitlines()))
    functions = {"compiler": lambda language: language + "-compiler", "stdlib": lambda language: language + "-stdlib",
                 "pin_subpackage": lambda name, max_pin: name + " " + max_pin}
    return yaml.safe_load(jinja2.Environment(undefined=jinja2.StrictUndefined).from_string(text).render(**functions))


def rendered(path, variants, platform="linux-64"):
    recipe = rattler_build.Stage0Recipe.from_file(path)
    config = rattler_build.VariantConfig.from_file(variants) if variants else rattler_build.VariantConfig()
    return recipe.render(config, rattler_build.RenderConfig(platform=rattler_build.PlatformConfig(target_platform=platform)))


def names(requirements):
    return {re.split(r"[ =<>]", str(text))[0] for text in requirements}


def asked_of_cmake():
    """The conda packages of what cmake/dependencies.cmake looks for."""
    text = re.sub(r"if\(SEMICRF_MPI\).*?endif\(\)", "", (ROOT / "cmake" / "dependencies.cmake").read_text(), flags=re.S)
    found = set(re.findall(r"IMPORTED_TARGET (\w+)\)", text)) | set(re.findall(r"find_package\((\w+)", text))
    found |= set(re.findall(r"find_library\(\w+ (\w+) ", text)) | set(re.findall(r"find_path\(\w+ (\w+)/", text))
    return {PACKAGES.get(name, name) for name in found - {"Threads", "PkgConfig"}}


def check_recipes():
    version = project_version()
    raw = yaml.safe_load((RECIPE / "recipe.yaml").read_text())
    check(raw["context"]["version"] == version, "recipe.yaml has not version %s" % version)
    for platform in ("linux-64", "linux-aarch64"):
        bioconda = meta(platform)
        check(bioconda["package"]["version"] == version, "meta.yaml has not version %s" % version)
        check(platform in ["linux-64"] + bioconda["extra"]["additional-platforms"], "meta.yaml is not for %s" % platform)
        host, asked = names(bioconda["requirements"]["host"]), asked_of_cmake()
        check(host == asked, "CMake asks for %s on %s, meta.yaml for %s" % (sorted(asked), platform, sorted(host)))
        variants = rendered(RECIPE / "recipe.yaml", RECIPE / "variants.yaml", platform)
        check(len(variants) == 2, "%d variants for %s" % (len(variants), platform))
        for item in variants:
            libraries = names(item.recipe.requirements.host)
            libraries = {name for name in libraries if not name.startswith("cuda-")}
            check(libraries == asked, "recipe.yaml asks for %s on %s" % (sorted(libraries), platform))
            print("rendered: %s %s %s" % (platform, item.recipe.package.name, item.recipe.build.string))
    return 1


def build(launcher):
    """The recipe without requirements: no channel is asked, the machine's own compiler and libraries are used."""
    with tempfile.TemporaryDirectory(prefix="semicrf-conda-") as name:
        top = pathlib.Path(name)
        source = top / "source"
        source.mkdir()
        archive = subprocess.run(["git", "-C", str(ROOT), "archive", "HEAD"], check=True, capture_output=True).stdout
        subprocess.run(["tar", "-C", str(source), "-xf", "-"], input=archive, check=True)
        folder = source / "contrib" / "conda" / "semicrf"
        for item in RECIPE.iterdir():
            shutil.copy(item, folder)
        recipe = yaml.safe_load((RECIPE / "recipe.yaml").read_text())
        del recipe["requirements"]
        recipe["source"]["use_gitignore"] = False
        recipe["build"]["script"]["env"].update(PATH="/usr/local/bin:/usr/bin:/bin", **launcher)
        recipe["tests"][1]["script"].insert(0, "export PATH=$PATH:/usr/bin:/bin")
        (folder / "recipe.yaml").write_text(yaml.safe_dump(recipe))
        (folder / "variants.yaml").unlink()
        variant, = rendered(folder / "recipe.yaml", None)
        result = variant.run_build(channels=[], output_dir=top / "output", package_format="conda",
                                   tool_config=rattler_build.ToolConfiguration(test_strategy="skip"))
        path = pathlib.Path(str(result.packages[0]))
        print("built: %s, %d bytes" % (path.name, path.stat().st_size))
        package = rattler_build.Package.from_file(path)
        files = {str(item) for item in package.files}
        contents = recipe["tests"][0]["package_contents"]
        for needed in ["bin/" + name for name in contents["bin"]] + contents["files"]:
            check(needed in files, "no %s in the package" % needed)
        # Without a channel its tests would ask conda-forge: the folder that the package was put into is one.
        outcomes = package.run_tests(channel=[(top / "output").as_uri()])
        said = "\n".join(line for outcome in outcomes for line in outcome.output)
        # The package carries the test with a script; the one of its contents is that of the loop above.
        check(len(outcomes) == 1 and outcomes[0].success, "%s\n%s" % (outcomes, said))
        print("its test passed")
    return 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", action="store_true")
    parser.add_argument("--env", action="append", default=[],
                        help="NAME=VALUE for the build, such as that of a compiler cache, or SEMICRF_CMAKE_ARGS=...")
    options = parser.parse_args()
    passed = check_recipes()
    if options.build:
        passed += build(dict(item.split("=", 1) for item in options.env))
    print("%d passed, 0 failed" % passed)


if __name__ == "__main__":
    main()
