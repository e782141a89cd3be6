"""The public symbol graphs of the modules, extracted by the toolchain from a debug build.

The modules of the traits Server and Postgres come from a build of their own (`swift build --traits Server,Postgres
--scratch-path .build/traits`), because a trait changes the flags of every target. They need the libraries of the trait.
"""
import json
import pathlib
import shutil
import subprocess

PACKAGE = pathlib.Path(__file__).resolve().parent.parent.parent
# The modules of each trait, and what pkg-config knows its libraries as.
TRAITS = {
    "server": (["ChatAccounts", "ChatClient", "ChatServer"], ["libcurl", "libsodium", "sqlite3"]),
    "postgres": (["JournalPostgres"], ["libpq"]),
}


class Graphs:
    """The modules of one build."""

    def __init__(self, modules, scratch, package=PACKAGE):
        self.package = package
        self.modules = [module for module in modules if (package / "Sources" / module).is_dir()]
        self.build = package / scratch / "debug"

    def extract(self, module, directory):
        """Writes the symbol graphs of a module into a directory."""
        target = json.loads(subprocess.check_output(["swiftc", "-print-target-info"]))["target"]["triple"]
        subprocess.run(
            ["swift", "symbolgraph-extract", "-module-name", module, "-target", target, *self.arguments(),
             "-minimum-access-level", "public", "-skip-synthesized-members", "-output-dir", str(directory)],
            check=True, stdout=subprocess.DEVNULL)

    def arguments(self):
        """Returns the arguments with which the compiler finds the modules of the build."""
        arguments = ["-I", str(self.build / "Modules")]
        for map_file in self.build.glob("*.build/module.modulemap"):
            arguments += ["-Xcc", f"-fmodule-map-file={map_file}"]
        for header in self.package.glob("Sources/*/include"):
            arguments += ["-I", str(header)]
        for name in ["libpq"]:
            flags = subprocess.run(["pkg-config", "--cflags", name], capture_output=True, text=True) if shutil.which("pkg-config") else None
            for flag in flags.stdout.split() if flags and flags.returncode == 0 else []:
                arguments += ["-Xcc", flag]
        for map_file in self.package.glob("Sources/*/module.modulemap"):
            arguments += ["-I", str(map_file.parent)]
        return arguments


def plain(package=PACKAGE):
    """Returns the modules of a build without traits: the products, and ChatWire, which clients share."""
    return Graphs(["EventJournal", "MerkleLog", "ChatDomain", "ChatValues", "ChatLive", "Projections", "Chat", "ChatTesting", "ChatWire"], ".build", package)


def add_trait_options(parser):
    """Adds an option for each trait; `trait` is its name, or None."""
    for name in TRAITS:
        parser.add_argument(f"--{name}", dest="trait", action="store_const", const=name, help=f"the modules of the trait {name.title()}")


def of_trait(name, package=PACKAGE):
    """Returns the modules of a trait, or of a build without traits if the name is None."""
    return Graphs(TRAITS[name][0], ".build/traits", package) if name else plain(package)


def missing_for(name):
    """Returns why the modules of a trait cannot be built here, or None."""
    if name is None:
        return None
    libraries = TRAITS[name][1]
    if shutil.which("pkg-config") is None:
        return "there is no pkg-config here"
    missing = [name for name in libraries if subprocess.run(["pkg-config", "--exists", name]).returncode != 0]
    return f"missing libraries: {', '.join(missing)} (see README.md)" if missing else None
