"""The page as its accessibility tree tells it: a journey that finds everything by role and name, with a transcript."""

from conversation import people
from harness import Failed, wait

# Roles that a screen reader says; what is in others is a part of their text.
SAID = {"banner", "navigation", "main", "complementary", "region", "search", "form", "heading", "article", "link", "button", "textbox", "searchbox",
        "combobox", "checkbox", "list", "listitem", "dialog", "status", "alert", "note", "blockquote", "table", "group"}
# Those that need a name.
NAMED = {"navigation", "complementary", "region", "heading", "article", "link", "button", "textbox", "searchbox", "combobox", "checkbox", "dialog"}
MOST_LINES = 45


class Listener:
    """A person who has only the accessibility tree."""

    def __init__(self, person, lines):
        self.person, self.lines = person, lines
        person.driver.execute_cdp_cmd("Accessibility.enable", {})

    def nodes(self):
        """The nodes that are not ignored, in their order, each with its depth, role, name, description and value."""
        tree = self.person.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
        by_id = {node["nodeId"]: node for node in tree}
        found = []

        def visit(node, depth):
            text = lambda key: str(node.get(key, {}).get("value", "")).strip()
            is_said = not node.get("ignored") and text("role") in SAID
            if is_said:
                found.append({"depth": depth, "role": text("role"), "name": text("name"), "description": text("description"), "value": text("value"),
                              "dom": node.get("backendDOMNodeId"), "properties": {each["name"]: each["value"].get("value") for each in node.get("properties", [])}})
            for child in node.get("childIds", []):
                if child in by_id:
                    visit(by_id[child], depth + is_said)

        visit(tree[0], 0)
        return found

    def node(self, role, name, inside=None):
        """Waits for the last node with a role whose name begins with a text, in a landmark or dialog."""
        def find():
            nodes = self.nodes()
            if inside:
                start = next((index for index, node in enumerate(nodes) if node["role"] == inside), None)
                if start is None:
                    return None
                end = next((index for index in range(start + 1, len(nodes)) if nodes[index]["depth"] <= nodes[start]["depth"]), len(nodes))
                nodes = nodes[start:end]
            return next((node for node in reversed(nodes) if node["role"] == role and node["name"].startswith(name)), None)
        return wait(f"the tree has {role} {name!r}" + (f" in {inside}" if inside else ""), find)

    def act(self, node, script, *arguments):
        target = self.person.driver.execute_cdp_cmd("DOM.resolveNode", {"backendNodeId": node["dom"]})["object"]["objectId"]
        self.person.driver.execute_cdp_cmd("Runtime.callFunctionOn", {
            "objectId": target, "functionDeclaration": f"function(...a) {{ {script} }}", "arguments": [{"value": each} for each in arguments]})

    def press(self, role, name, inside=None):
        self.lines.append(f"> presses {role} {name!r}")
        self.act(self.node(role, name, inside), "this.focus(); this.click()")

    def write(self, role, name, text, inside=None):
        self.lines.append(f"> writes {text!r} into {role} {name!r}")
        self.act(self.node(role, name, inside), "this.focus(); this.value = a[0]; this.dispatchEvent(new Event('input', { bubbles: true }))", text)

    def hear(self, title):
        """Notes what the tree says of the present view, and checks what holds for every view."""
        nodes = self.nodes()
        self.lines.append(f"\n== {title} ({self.person.driver.title})")
        for node in nodes[:MOST_LINES]:
            state = [key for key in ("pressed", "checked", "expanded", "disabled") if node["properties"].get(key) in (True, "true")]
            level = node["properties"].get("level") if node["role"] == "heading" else None
            parts = [node["role"] + (f" {level}" if level else ""), repr(node["name"]) if node["name"] else "", node["description"] and f"({node['description'][:80]})",
                     node["value"] and f"= {node['value'][:80]!r}", " ".join(state)]
            self.lines.append("  " * node["depth"] + " ".join(part for part in parts if part))
        if len(nodes) > MOST_LINES:
            self.lines.append(f"  ... and {len(nodes) - MOST_LINES} more")
        nameless = [node for node in nodes if node["role"] in NAMED and not node["name"]]
        mains = [node for node in nodes if node["role"] == "main"]
        titles = [node for node in nodes if node["role"] == "heading" and node["properties"].get("level") == 1]
        if nameless or len(mains) > 1 or len(titles) > 1 or (not mains and not any(node["role"] == "dialog" for node in nodes)):
            raise Failed(f"{title}: without a name: {nameless}; {len(mains)} main landmarks, {len(titles)} headings of level 1\n" + "\n".join(self.lines[-60:]))
        return nodes


def run(tool, directory):
    """Returns the number of lines; the transcript is printed."""
    lines = []
    with people(tool, directory, ["Ann", "Bob"]) as (_, (ann, bob)):
        for person in (ann, bob):
            person.sign_up(person.name)
        threads = {name: bob.commands([{"openThread": {"name": name, "policy": "listed"}}])[0]["events"][0]["threadOpened"]["thread"] for name in ("Allotments", "Street party")}
        party = threads["Street party"]
        ann.commands([{"joinThread": {"thread": party}}])
        bob.commands([{"postMessage": {"thread": party, "body": body}} for body in ("Shall we say Saturday?", "I bring the tables.")])
        ann.request("POST", "/v1/sign-out")
        ann.driver.refresh()
        ann.see("Sign in", "h1")
        listener = Listener(ann, lines)
        try:
            journey(listener, ann, bob, party)
        finally:
            print("\n".join(lines))
    return {"lines": len(lines)}


def journey(listener, ann, bob, party):
    listener.hear("The sign-in")
    listener.write("textbox", "E-mail address", ann.email)
    listener.write("textbox", "Password", "not the password")
    listener.press("button", "Sign in")
    listener.node("alert", "")
    listener.hear("A wrong password")
    listener.write("textbox", "Password", ann.password)
    listener.press("button", "Sign in")
    listener.node("navigation", "Threads")
    listener.node("link", "Street party", "navigation")
    listener.hear("The list of threads")
    listener.press("link", "Street party", "navigation")
    listener.node("heading", "Street party", "main")
    article = listener.node("article", "Bob", "main")
    nodes = listener.hear("A thread")
    if "I bring the tables." not in article["description"] or len([node for node in nodes if node["role"] == "article"]) != 2:
        raise Failed(f"the last article is {article}")
    listener.write("textbox", "Write a message", "I bring cake.", "main")
    listener.press("button", "Send", "main")
    wait("the message is an article", lambda: listener.node("article", "You", "main")["description"] == "I bring cake.")
    bob.open(f"t/{party}")
    bob.id_of("I bring cake.")
    bob.write("What kind?")
    wait("the answer is said", lambda: ann.text("#announcer") == "Bob: What kind?")
    listener.lines.append(f"< says {ann.text('#announcer')!r}")
    listener.press("link", "Reply", "main")
    listener.node("heading", "Replies", "complementary")
    listener.write("textbox", "Write a reply", "Apple.", "complementary")
    listener.press("button", "Send", "complementary")
    wait("the reply is an article", lambda: listener.node("article", "You", "complementary")["description"] == "Apple.")
    listener.hear("The replies")
    listener.press("link", "Close", "complementary")
    listener.press("button", "More for this message of Bob", "main")
    listener.press("button", "React", "main")
    listener.node("dialog", "React")
    listener.hear("The choice of a reaction")
    listener.press("button", "\N{THUMBS UP SIGN}", "dialog")
    wait("the reaction is pressed", lambda: listener.node("button", "\N{THUMBS UP SIGN}: 1, you too", "main")["properties"].get("pressed") in (True, "true"))
    bob.see("1", "main .reactions")
    listener.press("link", "Find threads", "navigation")
    listener.node("button", "Join Allotments", "main")
    listener.hear("The directory")
    listener.press("button", "Join Allotments", "main")
    listener.node("heading", "Allotments", "main")
    listener.hear("An empty thread")
    muted = ann.get("/v1/me")["id"]
    bob.commands([{"mute": {"thread": party, "user": muted, "reason": "too much cake", "until": None}}])
    listener.press("link", "Street party", "navigation")
    listener.node("note", "", "main")
    nodes = listener.hear("A thread in which one is muted")
    if any(node["role"] == "textbox" for node in nodes) or "too much cake" not in ann.text("main [role=note]"):
        raise Failed("the mute is not told")
    listener.press("link", "Settings", "navigation")
    listener.node("heading", "This browser", "main")
    listener.hear("The settings")
    listener.press("button", "Keyboard shortcuts", "main")
    listener.node("dialog", "Keyboard shortcuts")
    listener.hear("The shortcuts")
    listener.press("button", "Close", "dialog")
    listener.press("button", "Sign out", "main")
    listener.node("dialog", "Sign out")
    # "Sign out everywhere" is the last one with such a name.
    listener.press("button", "Sign out everywhere", "dialog")
    listener.node("heading", "Sign in", "main")
    listener.hear("After the sign-out")
