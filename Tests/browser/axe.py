"""axe-core, from the newest of the packages of PyPI that contain it and are installed here."""

import importlib.util
import pathlib
import re

# The rules: WCAG up to 2.2 at the levels A and AA, and the best practices of axe-core.
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
PACKAGES = {"axe_playwright_python": "axe.min.js", "axe_core_python": "axe.min.js", "axe_selenium_python": "node_modules/axe-core/axe.min.js"}


def script():
    """Returns the path and the version of axe-core, or None."""
    found = []
    for package, path in PACKAGES.items():
        spec = importlib.util.find_spec(package)
        file = spec and pathlib.Path(spec.origin).parent / path
        if file and file.is_file():
            version = re.search(r'version="(\d+)\.(\d+)\.(\d+)"', file.read_text())
            found.append((tuple(map(int, version.groups())), file))
    return max(found, default=None)


def violations(driver):
    """Returns what axe-core finds in the present page of a browser."""
    version, file = script()
    driver.execute_script(file.read_text())
    result = driver.execute_async_script("""
        const [tags, done] = arguments;
        axe.run({ resultTypes: ["violations"], runOnly: { type: "tag", values: tags } }).then((result) => done(result.violations), (error) => done(String(error)));""", TAGS)
    if isinstance(result, str):
        raise RuntimeError(result)
    if version < (4, 0, 0):
        # Version 3 does not know the value one-time-code of the HTML standard.
        result = [violation for violation in result if violation["id"] != "autocomplete-valid"]
    return result
