"""The public symbol graphs of the products, extracted by the toolchain from a debug build (`swift build`)."""
import json
import subprocess

MODULES = ["EventJournal", "ChatDomain", "Projections", "Chat", "ChatTesting"]


def extract(package, module, directory):
    """Writes the symbol graphs of a module into a directory."""
    target = json.loads(subprocess.check_output(["swiftc", "-print-target-info"]))["target"]["triple"]
    include = ["-I", str(package / ".build" / "debug" / "Modules")]
    for map_file in package.glob(".build/debug/*.build/module.modulemap"):
        include += ["-Xcc", f"-fmodule-map-file={map_file}"]
    for header in package.glob("Sources/*/include"):
        include += ["-I", str(header)]
    subprocess.run(
        ["swift", "symbolgraph-extract", "-module-name", module, "-target", target, *include, "-minimum-access-level", "public",
         "-skip-synthesized-members", "-output-dir", str(directory)], check=True, stdout=subprocess.DEVNULL)
