"""Finds PostgreSQL, etcd and Patroni, and installs what is missing where that is allowed."""

import glob
import os
import pathlib
import pwd
import shutil
import subprocess

PACKAGE = pathlib.Path(__file__).resolve().parent.parent.parent
# Patroni before 4.1 has no quorum commit, or an unsafe one.
PATRONI = "4.1.5"
PYTHON_PACKAGES = [f"patroni[etcd3]=={PATRONI}", "psycopg2-binary"]


class Missing(Exception):
    """A program is missing and cannot be installed."""


class Programs:
    """The programs of a cluster.

    `postgres` is the directory of PostgreSQL's programs, `python` an interpreter that can import Patroni with `modules` in
    its path. `user` is the user who runs them, because PostgreSQL does not run as root; None for the user of this process.
    """

    def __init__(self, scratch):
        self.user = None
        missing = [package for package, found in (("postgresql", postgres_directory()), ("etcd-server", etcd())) if not found]
        if missing:
            install(missing)
        self.postgres, self.etcd = postgres_directory(), etcd()
        if not self.postgres or not self.etcd:
            raise Missing(f"the packages {', '.join(missing)} have no programs here")
        if os.getuid() == 0:
            try:
                self.user = pwd.getpwnam("postgres")
            except KeyError:
                raise Missing("there is no user postgres, and PostgreSQL does not run as root") from None
        self.python = self.find_python()
        self.modules = self.find_modules(scratch)

    def as_user(self):
        """Returns the words before a command that the user of the cluster runs."""
        if self.user is None:
            return []
        return ["setpriv", f"--reuid={self.user.pw_uid}", f"--regid={self.user.pw_gid}", "--clear-groups"]

    def find_python(self):
        # The interpreter of root may be in a directory that no other user can enter.
        for path in (shutil.which("python3"), "/usr/bin/python3", "/usr/local/bin/python3"):
            if path and subprocess.run([*self.as_user(), "env", path, "-c", "import ssl"], cwd="/", capture_output=True, check=False).returncode == 0:
                return path
        raise Missing("there is no python3 that the user of PostgreSQL can run")

    def find_modules(self, scratch):
        """Returns a directory of Python packages, which the user of the cluster can read."""
        kept = PACKAGE / ".build" / f"patroni-{PATRONI}"
        if not (kept / "patroni").is_dir():
            require_permission(PYTHON_PACKAGES)
            if subprocess.run([self.python, "-m", "pip", "--version"], capture_output=True, check=False).returncode != 0:
                install(["python3-pip"])
            shutil.rmtree(kept, ignore_errors=True)
            part = kept.with_name("patroni-part")
            shutil.rmtree(part, ignore_errors=True)
            done = subprocess.run([self.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", str(part),
                                   *PYTHON_PACKAGES], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise Missing(f"pip cannot install {' '.join(PYTHON_PACKAGES)}: {done.stderr.strip()[-500:]}")
            part.rename(kept)
        modules = scratch / "modules"
        shutil.copytree(kept, modules)
        return modules


def postgres_directory():
    """Returns the directory of the newest PostgreSQL; None if there is none."""
    debian = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[-2]), reverse=True)
    initdb = shutil.which("initdb")
    candidates = debian + ([os.path.dirname(os.path.realpath(initdb))] if initdb else [])
    return next((path for path in candidates if os.access(f"{path}/postgres", os.X_OK)), None)


def etcd():
    return shutil.which("etcd", path=os.environ.get("PATH", "") + ":/usr/sbin")


def require_permission(packages):
    if os.environ.get("CHATJOURNAL_INSTALL", "1") != "1":
        raise Missing(f"CHATJOURNAL_INSTALL forbids the installation of {' '.join(packages)}")


def install(packages):
    require_permission(packages)
    if os.getuid() != 0 or not shutil.which("apt-get"):
        raise Missing(f"{' '.join(packages)} cannot be installed without root and apt-get")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "--no-install-recommends", *packages]):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Missing(f"{' '.join(command)} failed: {done.stderr.strip()[-500:]}")
