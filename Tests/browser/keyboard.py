"""A journey by keyboard alone, from the sign-in to the sign-out, with a transcript of keys and of what has the focus."""

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from conversation import people
from harness import Failed, wait

COUNT = 400
NAMES = {Keys.TAB: "Tab", Keys.ENTER: "Enter", Keys.ESCAPE: "Escape", Keys.ARROW_DOWN: "Down", Keys.ARROW_UP: "Up", Keys.ARROW_LEFT: "Left",
         Keys.ARROW_RIGHT: "Right", Keys.HOME: "Home", Keys.END: "End", Keys.PAGE_UP: "Page Up", Keys.PAGE_DOWN: "Page Down", Keys.SPACE: "Space"}
# The most stops of the Tab key from the heading of a thread to its composer.
MOST_STOPS = 12


class Typist:
    """Uses a page with the keyboard, and notes what has the focus."""

    def __init__(self, person, lines):
        self.person, self.lines = person, lines

    def focus(self):
        """The role and the name of what has the focus, as a screen reader is told."""
        def ask():
            element = self.person.driver.switch_to.active_element
            return f"{element.aria_role} {element.accessible_name!r}"
        return wait("something has the focus", ask)

    def press(self, *keys, modifier=None):
        for key in keys:
            actions = ActionChains(self.person.driver)
            if modifier:
                actions.key_down(modifier).send_keys(key).key_up(modifier)
            else:
                actions.send_keys(key)
            actions.perform()
            name = NAMES.get(key, key)
            name = {Keys.CONTROL: "Ctrl+", Keys.ALT: "Alt+", Keys.SHIFT: "Shift+", None: ""}[modifier] + name
            self.lines.append(f"{name:24} {self.focus()}")

    def type(self, text):
        ActionChains(self.person.driver).send_keys(text).perform()
        self.lines.append(f"{'types ' + text!r:24} {self.focus()}")

    def has(self, what, selector):
        """Waits until the element with the focus matches a selector."""
        wait(f"{what} has the focus, not {self.focus()}", lambda: self.person.run("return document.activeElement.matches(arguments[0])", selector))

    def tab_to(self, what, selector, most=60):
        """Presses the Tab key until an element has the focus. Returns how often."""
        for number in range(1, most + 1):
            self.press(Keys.TAB)
            if self.person.run("return document.activeElement.matches(arguments[0])", selector):
                return number
        raise Failed(f"{most} presses of the Tab key do not reach {what}:\n" + "\n".join(self.lines[-most:]))

    def message(self):
        """The text of the message with the focus."""
        return self.person.run("return document.activeElement.closest('.entry')?.querySelector('.body')?.textContent ?? null")


def run(tool, directory):
    """Returns the number of keys and the stops; the transcript is printed."""
    lines = []
    with people(tool, directory, ["Ann", "Bob"]) as (_, (ann, bob)):
        for person in (ann, bob):
            person.sign_up(person.name)
        threads = {name: ann.commands([{"openThread": {"name": name}}])[0]["events"][0]["threadOpened"]["thread"] for name in ("Allotments", "Street party")}
        for thread in threads.values():
            bob.commands([{"joinThread": {"thread": thread}}])
        bob.commands([{"postMessage": {"thread": threads["Street party"], "body": f"Message {number}"}} for number in range(1, COUNT + 1)])
        ann.commands([{"postMessage": {"thread": threads["Allotments"], "body": "Who waters the beans?"}}])
        ann.request("POST", "/v1/sign-out")
        ann.driver.refresh()
        ann.see("Sign in", "h1")
        typist = Typist(ann, lines)
        try:
            signed_in(typist)
            stops = opened(typist)
            moved(typist)
            replied(typist, bob)
            reacted(typist, bob)
            written(typist, bob)
            found(typist)
            listed(typist)
            skipped(typist)
            signed_out(typist)
        finally:
            print("\n".join(lines))
    return {"keys": len(lines), "stops to the composer": stops}


def signed_in(typist):
    ann = typist.person
    typist.tab_to("the address", "[name=email]")
    typist.type(ann.email)
    typist.press(Keys.TAB)
    typist.type(ann.password)
    typist.press(Keys.ENTER)
    wait("Ann is signed in", lambda: ann.find(".thread-list a"))


def opened(typist):
    """The list of threads is one stop, and so is that of messages."""
    ann = typist.person
    typist.tab_to("the list of threads", ".thread-list a")
    typist.press(Keys.ARROW_DOWN, Keys.HOME, Keys.END)
    if "Street party" not in typist.focus():
        typist.press(Keys.ARROW_UP)
    typist.press(Keys.ENTER)
    ann.see("Street party", "main h1")
    ann.see("New messages", "main .timeline")
    typist.has("the heading", "#thread-title")
    number = typist.tab_to("the list of messages", ".entry article")
    if typist.message() != "Message 1":
        raise Failed(f"the first stop is {typist.message()!r}")
    number += typist.tab_to("the composer", "main .composer textarea")
    if number > MOST_STOPS:
        raise Failed(f"{number} stops from the heading to the composer")
    # "Latest messages" is between them while the list is not at its end.
    typist.press(Keys.TAB, Keys.TAB, modifier=Keys.SHIFT)
    typist.has("the message of before", ".entry article")
    return number


def moved(typist):
    """The arrows move within the list, further than the document goes, to its beginning and its end."""
    ann = typist.person
    typist.press(Keys.END)
    wait("the last message", lambda: typist.message() == f"Message {COUNT}")
    typist.press(Keys.ARROW_UP, Keys.ARROW_UP, Keys.ARROW_DOWN)
    if typist.message() != f"Message {COUNT - 1}":
        raise Failed(f"the arrows lead to {typist.message()!r}")
    typist.press(Keys.PAGE_UP)
    first = int(typist.message().split()[1])
    if not COUNT - 60 < first < COUNT - 4:
        raise Failed(f"a page leads to {first}")
    for number in range(first - 1, 0, -1):
        wait(f"message {number} has the focus", lambda: (ActionChains(ann.driver).send_keys(Keys.ARROW_UP).perform() if typist.message() == f"Message {number + 1}" else None)
             or typist.message() == f"Message {number}")
    typist.lines.append(f"{'Up, to the beginning':24} {typist.focus()}")
    for number in range(2, 200):
        wait(f"message {number} has the focus", lambda: (ActionChains(ann.driver).send_keys(Keys.ARROW_DOWN).perform() if typist.message() == f"Message {number - 1}" else None)
             or typist.message() == f"Message {number}")
    typist.lines.append(f"{'Down, 198 times':24} {typist.focus()}")
    typist.press(Keys.HOME)
    wait("the first message", lambda: typist.message() == "Message 1")
    typist.press(Keys.END)
    wait("the last message", lambda: typist.message() == f"Message {COUNT}")
    typist.press(Keys.ARROW_RIGHT)
    typist.has("an action", ".message-actions *")
    typist.press(Keys.ESCAPE)
    typist.has("the message", "article")
    typist.press(Keys.ENTER)
    typist.has("an action", ".message-actions *")
    typist.press(Keys.ARROW_LEFT)
    typist.has("the message", "article")


def replied(typist, bob):
    ann = typist.person
    typist.press("r")
    ann.see("No replies yet", ".panel")
    # With a mouse the field has the focus at once; a browser without a screen has none.
    if not ann.run("return document.activeElement.matches('.panel .composer textarea')"):
        typist.tab_to("the field for replies", ".panel .composer textarea", 8)
    typist.type("A reply by keyboard? j k")
    typist.press(Keys.ENTER)
    ann.see("A reply by keyboard? j k", ".panel .timeline")
    typist.press(Keys.ESCAPE)
    wait("the panel is closed", lambda: not ann.find(".panel:not([hidden])"))
    typist.has("the heading", "#thread-title")
    bob.open(ann.run("return location.hash").removeprefix("#/"))
    bob.see("1 reply", "main .timeline")


def reacted(typist, bob):
    ann = typist.person
    typist.tab_to("the list of messages", ".entry article")
    typist.press(Keys.END, "+")
    ann.see("React", "dialog")
    typist.has("the emoji", "dialog .reaction-choices button")
    typist.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ENTER)
    bob.see("\N{PARTY POPPER}", "main .reactions")
    wait("the dialog is closed", lambda: not ann.find("dialog"))


def written(typist, bob):
    """Shortcuts do nothing in a field; the arrow up in an empty one edits the last message."""
    ann = typist.person
    typist.press("c")
    typist.has("the composer", "main .composer textarea")
    typist.type("j/k? +1, e")
    if ann.run("return document.activeElement.value") != "j/k? +1, e" or ann.find("dialog"):
        raise Failed("a shortcut worked in a field")
    typist.press(Keys.ENTER)
    bob.id_of("j/k? +1, e")
    ann.id_of("j/k? +1, e")
    typist.press(Keys.ARROW_UP)
    typist.has("the editor", ".edit-box textarea")
    typist.type(" and more")
    typist.press(Keys.ENTER, modifier=Keys.CONTROL)
    bob.id_of("j/k? +1, e and more")
    wait("the editor is closed", lambda: not ann.find(".edit-box"))


def found(typist):
    """A thread is found by its name, and the next and the previous one are opened."""
    ann = typist.person
    typist.press("k", modifier=Keys.CONTROL)
    typist.has("the field", "dialog input")
    typist.type("allot")
    typist.press(Keys.ARROW_DOWN, Keys.ENTER)
    ann.see("Allotments", "main h1")
    typist.has("the heading", "#thread-title")
    typist.press("k")
    ann.see("Street party", "main h1")
    typist.press("j")
    ann.see("Allotments", "main h1")
    typist.press(Keys.ARROW_UP, modifier=Keys.ALT)
    ann.see("Street party", "main h1")
    typist.press("/")
    typist.has("the field", "dialog input")
    typist.press(Keys.ESCAPE)
    wait("the dialog is closed", lambda: not ann.find("dialog"))


def listed(typist):
    """The list of shortcuts turns those of one character off, for this device."""
    ann = typist.person
    typist.press("?")
    ann.see("Keyboard shortcuts", "dialog h2")
    typist.tab_to("the switch", "dialog input[type=checkbox]")
    typist.press(Keys.SPACE, Keys.ESCAPE)
    wait("the dialog is closed", lambda: not ann.find("dialog"))
    ann.driver.refresh()
    ann.see("Street party", "main h1")
    typist.press("j", "?")
    if ann.text("main h1") != "Street party" or ann.find("dialog"):
        raise Failed("a shortcut that is turned off works")
    typist.press(Keys.ARROW_DOWN, modifier=Keys.ALT)
    ann.see("Allotments", "main h1")


def skipped(typist):
    """The links at the beginning lead to what is shown and to the composer, also in one column."""
    ann = typist.person
    for width in (1280, 390):
        ann.size(width, 800)
        ann.driver.refresh()
        ann.see("Who waters the beans?", "main .timeline")
        wait("there is a composer", lambda: ann.find("main .composer"))
        typist.press(Keys.TAB)
        typist.has("the first link", ".skip-link")
        typist.press(Keys.ENTER)
        typist.has("the view", "main")
        ann.driver.refresh()
        ann.see("Who waters the beans?", "main .timeline")
        wait("there is a composer", lambda: ann.find("main .composer"))
        typist.press(Keys.TAB, Keys.TAB)
        typist.has("the second link", ".to-writing")
        typist.press(Keys.ENTER)
        typist.has("the composer", "main .composer textarea")
    ann.open("")
    ann.driver.refresh()
    wait("the list is shown", lambda: ann.find(".thread-list a"))
    typist.press(Keys.TAB, Keys.ENTER)
    typist.has("the list of threads", ".sidebar")
    ann.size(1280, 900)


def signed_out(typist):
    ann = typist.person
    typist.tab_to("the settings", '[aria-label="Settings"]')
    typist.press(Keys.ENTER)
    ann.see("Settings", "main h1")
    for _ in range(80):
        typist.press(Keys.TAB)
        if typist.focus() == "button 'Sign out'":
            break
    typist.press(Keys.ENTER)
    ann.see("Sign out?", "dialog")
    for _ in range(5):
        if typist.focus() == "button 'Sign out'":
            break
        typist.press(Keys.TAB)
    typist.press(Keys.ENTER)
    ann.see("You are signed out.", "main")
