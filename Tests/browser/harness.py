"""The server under test, and a person in a browser profile of their own."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request

from selenium import webdriver
from selenium.common.exceptions import (
    ElementClickInterceptedException, ElementNotInteractableException, NoSuchElementException, StaleElementReferenceException)
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "checks"))

from ports import free_port

# How long anything may take: a failure, not a slow machine, is the reason to wait so long.
PATIENCE = 300

# Runs before the scripts of every page: keeps errors, violations of the policy, whatever a hostile text would call, and
# feedback, which the page shows for some seconds only.
WATCH = """
window.problems = [];
window.addEventListener("error", (event) => problems.push("error: " + event.message));
window.addEventListener("unhandledrejection", (event) => problems.push("rejection: " + (event.reason?.stack ?? event.reason)));
document.addEventListener("securitypolicyviolation", (event) => problems.push("policy: " + event.violatedDirective + " " + event.blockedURI + " " + event.sourceFile + ":" + event.lineNumber));
window.alert = () => problems.push("script of a text was executed");
window.feedback = [];
new MutationObserver((records) => {
    for (const { addedNodes } of records) {
        for (const node of addedNodes) if (node.nodeType === 1 && node.matches(".feedback")) feedback.push(node.textContent);
    }
}).observe(document, { childList: true, subtree: true });
"""


class Failed(Exception):
    pass


def wait(what, check, patience=PATIENCE):
    """Returns the first true result of a check, or fails. An element that is just being replaced counts as false."""
    end = time.monotonic() + patience
    while True:
        try:
            result = check()
        except (StaleElementReferenceException, NoSuchElementException, ElementClickInterceptedException, ElementNotInteractableException):
            result = None
        if result:
            return result
        if time.monotonic() > end:
            raise Failed(f"not within {patience} s: {what}")
        time.sleep(0.03)


class Server:
    """A server with its own journal, accounts and mails."""

    def __init__(self, tool, directory, options=()):
        self.tool, self.directory, self.options = tool, pathlib.Path(directory), options
        self.mail = self.directory / "mail"
        self.mail.mkdir(parents=True)
        self.read = set()
        self.port = free_port()
        self.process = None

    def start(self):
        """Starts the server and waits until it accepts connections."""
        self.process = subprocess.Popen(
            [self.tool, "serve", str(self.directory / "journal"), "--accounts", str(self.directory / "accounts"),
             "--listen", f"127.0.0.1:{self.port}", "--mail", str(self.mail), *self.options], stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        if not self.url.startswith("http://"):
            raise Failed(f"the server printed {self.url!r} and ended with {self.process.wait()}")
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def kill(self):
        """Kills the server with SIGKILL."""
        self.process.kill()
        self.process.wait()

    def stop(self):
        """Ends the server with SIGTERM, and checks its status."""
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(timeout=PATIENCE)
        if status != 0:
            raise Failed(f"the server ended with {status} after SIGTERM")

    def ask(self, method, path, body, token=None):
        """Sends a request without a browser, and returns the body."""
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), headers, method=method)
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def sign_up(self, name):
        """Signs up a person without a browser, and returns their id and the token of a session."""
        email, password = f"{name.lower()}@example.org", f"correct horse {name}"
        self.ask("POST", "/v1/sign-up", {"username": name, "email": email, "password": password})
        self.ask("POST", "/v1/confirm", {"email": email, "code": self.code(email)})
        found = self.ask("POST", "/v1/sign-in", {"email": email, "password": password, "device": "none"})
        return found["user"]["id"], found["token"]

    def code(self, address):
        """Returns the code of the next mail to an address."""
        def find():
            for path in sorted(self.mail.glob("*.eml"), key=os.path.getmtime):
                text = path.read_text()
                if path not in self.read and re.search(rf"^To: .*{re.escape(address)}", text, re.MULTILINE):
                    self.read.add(path)
                    return re.search(r"Your code is (\d{6})", text)[1]
            return None
        return wait(f"a mail to {address}", find)


class Person:
    """A browser with a profile of its own."""

    def __init__(self, name, server, directory, width=1280, height=900):
        self.name, self.server = name, server
        self.email, self.password = f"{name.lower()}@example.org", f"correct horse {name}"
        options = webdriver.ChromeOptions()
        options.binary_location = os.environ.get("CHROMIUM", "/usr/bin/chromium")
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                         "--disable-background-networking", f"--user-data-dir={directory}", "--force-device-scale-factor=1"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options, webdriver.ChromeService(os.environ.get("CHROMEDRIVER", "/usr/bin/chromedriver")))
        self.driver.set_script_timeout(PATIENCE)
        # A command of the driver waits for a script, and longer.
        self.driver.command_executor.client_config.timeout = 2 * PATIENCE
        self.watch()
        self.size(width, height)

    def watch(self):
        self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})

    def quit(self):
        self.driver.quit()

    # The window

    def size(self, width, height):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def scheme(self, name):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": name}]})

    def connect(self, is_connected):
        """Cuts the network of the present tab, or connects it."""
        self.driver.execute_cdp_cmd("Network.enable", {})
        self.driver.execute_cdp_cmd("Network.emulateNetworkConditions", {
            "offline": not is_connected, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1})

    def open(self, route=""):
        """Opens a view, by its address, in the page that is open."""
        if self.driver.current_url.startswith(self.server.url):
            self.driver.execute_script("location.hash = arguments[0]", "#/" + route)
        else:
            self.driver.get(f"{self.server.url}/#/{route}")

    def check(self):
        """Fails if a script failed, the policy was violated, or a text was executed."""
        problems = self.run("return window.problems ?? []")
        if problems:
            raise Failed(f"{self.name}: {problems}")

    # What is in the page

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def find(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0])?.innerText ?? null", selector)

    def see(self, text, selector="body"):
        """Waits until a text is shown."""
        return wait(f"{self.name} sees {text!r} in {selector}", lambda: self.run(
            "return [...document.querySelectorAll(arguments[0])].some((element) => element.innerText.includes(arguments[1]))", selector, text))

    def see_feedback(self, text):
        """Waits until a text has been shown as feedback since the page was loaded."""
        return wait(f"{self.name} sees the feedback {text!r}", lambda: self.run(
            "return window.feedback.some((feedback) => feedback.includes(arguments[0]))", text))

    def see_none(self, text, selector="body"):
        return wait(f"{self.name} no longer sees {text!r} in {selector}", lambda: not self.run(
            "return [...document.querySelectorAll(arguments[0])].some((element) => element.innerText.includes(arguments[1]))", selector, text))

    def click(self, name, inside="body"):
        """Clicks a button or link by its name."""
        script = """
            const text = (element) => {
                const spoken = element.cloneNode(true);
                for (const silent of spoken.querySelectorAll("[aria-hidden]")) silent.remove();
                return spoken.textContent;
            };
            const name = (element) => (element.getAttribute("aria-label") ?? text(element)).trim();
            const found = [...document.querySelectorAll(arguments[0])].flatMap((place) => [...place.querySelectorAll("button, a, summary")]);
            return found.find((element) => element.checkVisibility() && (name(element) === arguments[1] || name(element).startsWith(arguments[1]))) ?? null;
        """
        def act():
            element = self.run(script, inside, name)
            if element:
                # The actions of a message appear with the focus.
                self.run("if (arguments[0].closest('.message-actions')) arguments[0].focus()", element)
                element.click()
            return element is not None
        wait(f"{self.name} clicks {name!r} in {inside}", act)

    def fill(self, label, text, inside="body"):
        """Replaces the text of a field by its label."""
        script = """
            const place = document.querySelector(arguments[0]);
            const label = [...(place?.querySelectorAll("label") ?? [])].find((element) => element.textContent.startsWith(arguments[1]));
            return label ? label.control : place?.querySelector(`[aria-label="${arguments[1]}"]`) ?? null;
        """
        def act():
            element = self.run(script, inside, label)
            if not element or not element.is_displayed():
                return False
            self.put(element, text)
            return True
        wait(f"{self.name} fills {label!r}", act)

    def put(self, element, text):
        """Replaces the text of an element. The driver cannot type scalars beyond the Basic Multilingual Plane."""
        if element.tag_name == "select":
            self.run("arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input', {bubbles: true}))", element, text)
            return
        if text.isascii() and "\n" not in text and len(text) < 200:
            element.send_keys(Keys.CONTROL, "a")
            element.send_keys(Keys.DELETE)
            element.send_keys(text)
        else:
            self.run("arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input', {bubbles: true}))", element, text)

    def write(self, text, place="main"):
        """Writes a message, or a reply in the place `.panel`, and presses Enter."""
        def act():
            area = self.driver.find_element(By.CSS_SELECTOR, f"{place} .composer textarea")
            self.put(area, text)
            if area.get_property("value") != text:
                return False
            area.send_keys(Keys.ENTER)
            return True
        wait(f"{self.name} writes", act)

    def menu(self, message, action, place="main"):
        """Chooses an action of the menu of a message."""
        self.choose(action, f'{place} .entry[data-id="{message}"]', ".more")

    def choose(self, action, place, button):
        """Chooses an action of the menu of a button."""
        # A list that is shown again has no menu: then it is opened again.
        script = """
            const button = document.querySelector(arguments[0] + " " + arguments[2]);
            if (!button) return false;
            if (button.getAttribute("aria-expanded") !== "true") {
                button.scrollIntoView({block: "center"});
                button.click();
                return false;
            }
            const items = [...document.querySelectorAll(".menu:popover-open button")];
            return items.find((element) => element.textContent.trim().startsWith(arguments[1])) ?? false;
        """
        def act():
            item = self.run(script, place, action, button)
            # With the pointer, as a person does: what is below another element cannot be chosen.
            if item:
                item.click()
            return item
        wait(f"{self.name} chooses {action!r} in {place}", act)

    def id_of(self, body, place="main"):
        """Returns the id of a message that is shown."""
        return wait(f"{self.name} sees the message {body!r}", lambda: self.run("""
            return [...document.querySelectorAll(arguments[0] + " .entry[data-id]")]
                .find((entry) => entry.querySelector(".body")?.textContent === arguments[1])?.dataset.id ?? null""", place, body))

    def shown(self, place="main"):
        """Returns the pairs of id and text of the messages in the document."""
        return [tuple(pair) for pair in self.run("""
            return [...document.querySelectorAll(arguments[0] + " .timeline .entry[data-id]")]
                .map((entry) => [entry.dataset.id, entry.querySelector(".body").textContent])""", place)]

    def waiting(self):
        """Returns the texts that wait to be sent in the present view."""
        return self.run("return [...document.querySelectorAll('[data-waiting] .body')].map((element) => element.textContent)")

    # The server, as this person

    def request(self, method, path, body=None):
        """Sends a request with the session of the page, and returns the status and the body."""
        status, text = self.driver.execute_async_script("""
            const [method, path, body, done] = arguments;
            fetch(path, { method, headers: body ? { "Content-Type": "application/json" } : {}, body: body ?? undefined })
                .then(async (response) => done([response.status, await response.text()]), (error) => done([0, String(error)]));
        """, method, path, None if body is None else json.dumps(body))
        return status, json.loads(text) if text.startswith(("{", "[")) else text

    def get(self, path):
        status, body = self.request("GET", path)
        if status != 200:
            raise Failed(f"{self.name}: GET {path}: {status} {body}")
        return body

    def commands(self, commands):
        """Executes commands in batches of 500, and returns the answers."""
        answers = []
        for start in range(0, len(commands), 500):
            status, body = self.request("POST", "/v1/commands", commands[start:start + 500])
            if status != 200 or any("rejection" in answer for answer in body):
                raise Failed(f"{self.name}: commands: {status} {str(body)[:500]}")
            answers += body
        return answers

    def open_thread(self, name):
        """Opens a thread with the form of the page, and returns its id."""
        self.open("new")
        self.fill("Name", name, "main")
        self.click("Start the thread", "main form")
        self.see(name, "main h1")
        return self.run("return location.hash").split("/")[2]

    def timeline(self, thread):
        """Returns every message of a thread, from the server."""
        items, before = [], ""
        while before is not None:
            page = self.get(f"/v1/threads/{thread}/timeline?limit=200{before}")
            items = page["items"] + items
            before = None if page["older"] is None else f"&before={page['older']}"
        return items

    # Accounts

    def sign_up(self, username, other_name=None):
        """Signs up, confirms, and is signed in. With another name, the first one must be taken."""
        self.open("sign-up")
        self.fill("Name", username)
        self.fill("E-mail address", self.email)
        self.fill("Password", self.password)
        self.click("Sign up", ".form")
        self.see("Confirm your address", "h1")
        self.confirm(self.server.code(self.email), other_name)

    def confirm(self, code, other_name=None):
        self.fill("Code", code)
        self.click("Confirm", ".form")
        if other_name is not None:
            self.fill("Another name", other_name)
            self.click("Confirm", ".form")
        wait(f"{self.name} is signed in", lambda: self.find(".shell"))
        self.id = self.get("/v1/me")["id"]

    def sign_in(self):
        self.open("sign-in")
        self.fill("E-mail address", self.email)
        self.fill("Password", self.password)
        self.click("Sign in", ".form")
        wait(f"{self.name} is signed in", lambda: self.find(".shell"))
