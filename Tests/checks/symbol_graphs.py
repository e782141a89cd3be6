"""The public symbol graphs of the products, extracted by the toolchain from a debug build (`swift build`)."""
import json
import subprocess

MODULES = ["EventJournal", "MerkleLog", "ChatDomain", "Projections", "Chat", "ChatTesting"]


def module_arguments(package):
    """Returns the arguments with which the compiler finds the modules of the package's debug build."""
    arguments = ["-I", str(package / ".build" / "debug" / "Modules")]
    for map_file in package.glob(".build/debug/*.build/module.modulemap"):
        arguments += ["-Xcc", f"-fmodule-map-file={map_file}"]
    for header in package.glob("Sources/*/include"):
        arguments += ["-I", str(header)]
    return arguments


def extract(package, module, directory):
    """Writes the symbol graphs of a module into a directory."""
    target = json.loads(subprocess.check_output(["swiftc", "-print-target-info"]))["target"]["triple"]
    subprocess.run(
        ["swift", "symbolgraph-extract", "-module-name", module, "-target", target, *module_arguments(package),
         "-minimum-access-level", "public", "-skip-synthesized-members", "-output-dir", str(directory)],
        check=True, stdout=subprocess.DEVNULL)
