"""An OpenAPI document, and the comparison of requests and answers with it.

The validator implements the keywords of JSON Schema 2020-12 that the document uses. An unknown keyword is an error, so
that no rule is skipped. `x-one-of` and `x-const` have the rules of `oneOf` and `const`, in places where generators of
clients do not understand these: fields of which an object has one, and Booleans that are true or absent.
`x-known-values` and `x-additional-properties` have those of `enum` and `additionalProperties` for this version: a client
of a later version's server meets other values, so generators must not see a rule, but this server sends no other.
"""

import json
import math
import re

ANNOTATIONS = {"description", "title", "default", "example", "examples"}
KEYWORDS = {"$ref", "type", "const", "enum", "allOf", "anyOf", "oneOf", "properties", "required", "additionalProperties", "items",
            "x-one-of", "x-const", "x-known-values", "x-additional-properties",
            "minItems", "maxItems", "uniqueItems", "pattern", "minLength", "maxLength", "minimum", "maximum"}
# The headers of every answer, unless its description has another value.
COMMON_HEADERS = {"x-content-type-options": "nosniff", "cache-control": "no-store", "referrer-policy": "no-referrer"}


class Invalid(Exception):
    """A value or an answer is not as the document says."""


def parse_json(data):
    """Parses JSON strictly: UTF-8, no duplicate field, no NaN."""
    def members(pairs):
        found = dict(pairs)
        if len(found) != len(pairs):
            raise Invalid(f"a field twice: {[name for name, _ in pairs]}")
        return found

    def constant(text):
        raise Invalid(f"{text} is not JSON")

    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=members, parse_constant=constant)
    except ValueError as error:
        raise Invalid(f"not JSON: {error}: {data[:200]!r}") from error


def type_of(value):
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    return {str: "string", list: "array", dict: "object"}[type(value)]


def equal(first, second):
    """Compares JSON values; unlike in Python, true is not 1."""
    return type_of(first) == type_of(second) and first == second


class Document:
    """A document; `used` collects the operations and statuses that were compared."""

    def __init__(self, root):
        self.root, self.used = root, set()
        self.patterns = {}
        self.templates = [(path, re.compile("/".join("([^/]+)" if part.startswith("{") else re.escape(part) for part in path.split("/"))))
                          for path in root["paths"]]

    def resolve(self, node):
        while "$ref" in node:
            target = self.root
            for step in node["$ref"].removeprefix("#/").split("/"):
                target = target[step]
            node = target
        return node

    def operation(self, method, path):
        """Returns the path template and the operation of a request; both can be None."""
        method = "get" if method == "HEAD" else method.lower()
        # A path without a parameter wins.
        for template, pattern in sorted(self.templates, key=lambda found: "{" in found[0]):
            if pattern.fullmatch(path):
                return template, self.root["paths"][template].get(method)
        return None, None

    # Values

    def validate(self, schema, value, where="$"):
        """Raises Invalid unless a value is valid by a schema."""
        if unknown := set(schema) - KEYWORDS - ANNOTATIONS:
            raise AssertionError(f"{where}: the validator does not know {unknown}")
        if "$ref" in schema:
            self.validate(self.resolve(schema), value, where)
        kind = type_of(value)
        if "type" in schema:
            types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
            if kind not in types and not (kind == "integer" and "number" in types):
                raise Invalid(f"{where}: {kind}, not {types}: {str(value)[:200]}")
        for keyword in ("const", "x-const"):
            if keyword in schema and not equal(value, schema[keyword]):
                raise Invalid(f"{where}: {value!r}, not {schema[keyword]!r}")
        for keyword in ("enum", "x-known-values"):
            if keyword in schema and not any(equal(value, allowed) for allowed in schema[keyword]):
                raise Invalid(f"{where}: {value!r} is not in {schema[keyword]}")
        for part in schema.get("allOf", []):
            self.validate(part, value, where)
        for keyword in ("anyOf", "oneOf", "x-one-of"):
            if keyword in schema:
                self.count_valid(keyword, schema[keyword], value, where)
        {"object": self.validate_object, "array": self.validate_array, "string": self.validate_string,
         "integer": self.validate_number, "number": self.validate_number}.get(kind, lambda *_: None)(schema, value, where)

    def count_valid(self, keyword, parts, value, where):
        problems = []
        for part in parts:
            try:
                self.validate(part, value, where)
            except Invalid as problem:
                problems.append(str(problem))
        valid = len(parts) - len(problems)
        if valid == 0 or (keyword != "anyOf" and valid > 1):
            raise Invalid(f"{where}: {valid} of {keyword} are valid: {str(value)[:300]}: {'; '.join(problems)[:1200]}")

    def validate_object(self, schema, value, where):
        properties = schema.get("properties", {})
        for name in schema.get("required", []):
            if name not in value:
                raise Invalid(f"{where}: {name} is missing: {str(value)[:300]}")
        for name, found in value.items():
            if name in properties:
                self.validate(properties[name], found, f"{where}.{name}")
            elif schema.get("x-additional-properties", schema.get("additionalProperties", True)) is False:
                raise Invalid(f"{where}: {name} is not described: {str(value)[:300]}")

    def validate_array(self, schema, value, where):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", math.inf):
            raise Invalid(f"{where}: {len(value)} items")
        if schema.get("uniqueItems") and any(equal(a, b) for i, a in enumerate(value) for b in value[:i]):
            raise Invalid(f"{where}: an item twice")
        for index, item in enumerate(value):
            self.validate(schema.get("items", {}), item, f"{where}[{index}]")

    def validate_string(self, schema, value, where):
        if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", math.inf):
            raise Invalid(f"{where}: {len(value)} characters")
        if "pattern" in schema and not re.search(schema["pattern"], value):
            raise Invalid(f"{where}: {value!r} does not match {schema['pattern']}")

    def validate_number(self, schema, value, where):
        if not schema.get("minimum", -math.inf) <= value <= schema.get("maximum", math.inf):
            raise Invalid(f"{where}: {value} is out of bounds")

    # Answers

    def check(self, method, target, answer):
        """Raises Invalid unless the document has the answer to a request; returns the body as a value, or None."""
        path = target.split("?")[0]
        try:
            return self.compare(method, path, answer)
        except Invalid as problem:
            raise Invalid(f"{method} {target} -> {answer.status} {answer.headers}: {problem}") from None

    def compare(self, method, path, answer):
        template, operation = self.operation(method, path)
        if operation is None:
            # Every path can give the general problems. An undescribed one has to.
            kinds = ["NotFound" if template is None else "MethodNotAllowed", "ForeignOrigin", "Misdirected"]
            responses = {}
            for name in kinds:
                response = self.root["components"]["responses"][name]
                responses[str(response["content"]["application/problem+json"]["example"]["status"])] = response
            # The path of the WebSocket answers other methods as it answers GET.
            if template and "426" in (upgrade := self.root["paths"][template].get("get", {}).get("responses", {})):
                responses["426"] = upgrade["426"]
        else:
            responses = operation["responses"]
        if str(answer.status) not in responses:
            raise Invalid(f"the document does not have this status: {answer.body[:300]!r}")
        response = self.resolve(responses[str(answer.status)])
        value = self.check_body(method, response, answer)
        self.check_headers(response, answer)
        if answer.status == 401 and value is not None and value["code"] == "notSignedIn" and answer.header("WWW-Authenticate") != "Bearer":
            raise Invalid("notSignedIn without WWW-Authenticate: Bearer")
        described = template if operation or answer.status == 405 else None
        self.used.add((described, method, answer.status, value.get("code") if answer.status >= 400 and value else None))
        return value

    def check_headers(self, response, answer):
        described = {name.lower() for name in response.get("headers", {})}
        for name, expected in COMMON_HEADERS.items():
            if name not in described and answer.all(name) != [expected]:
                raise Invalid(f"the header {name} is {answer.all(name)}, not {expected}")
        for name, described in response.get("headers", {}).items():
            described, found = self.resolve(described), answer.all(name)
            if not found and not described.get("required"):
                continue
            if len(found) != 1:
                raise Invalid(f"{len(found)} headers {name}")
            schema = self.resolve(described["schema"])
            value = int(found[0]) if schema["type"] == "integer" and re.fullmatch("[0-9]+", found[0]) else found[0]
            self.validate(schema, value, f"the header {name}")

    def check_body(self, method, response, answer):
        content = response.get("content")
        if content is None:
            if answer.body or answer.header("Content-Type"):
                raise Invalid(f"a body: {answer.header('Content-Type')} {answer.body[:200]!r}")
            return None
        media = (answer.header("Content-Type") or "").split(";")[0]
        if len(answer.all("Content-Type")) != 1 or media not in content:
            raise Invalid(f"the type {answer.all('Content-Type')}, not {list(content)}")
        if method == "HEAD":
            if answer.body:
                raise Invalid(f"a body to HEAD: {answer.body[:200]!r}")
            return None
        if media in ("text/event-stream", "application/octet-stream"):
            return None
        value = parse_json(answer.body)
        self.validate(content[media]["schema"], value)
        if media == "application/problem+json" and value["status"] != answer.status:
            raise Invalid(f"the problem has the status {value['status']}")
        return value

    def check_event(self, value):
        """Raises Invalid unless a value is an event of the stream."""
        self.validate(self.root["paths"]["/v1/events"]["get"]["responses"]["200"]["content"]["text/event-stream"]["x-event-data"], value, "event")

    def check_notice(self, name, value):
        """Raises Invalid unless a value is the content of a notice of the stream."""
        media = self.root["paths"]["/v1/events"]["get"]["responses"]["200"]["content"]["text/event-stream"]
        self.validate(media["x-notice-data"][name], value, name)

    def check_request(self, method, target, value):
        """Raises Invalid unless a value is a request that the document allows."""
        operation = self.operation(method, target.split("?")[0])[1]
        self.validate(operation["requestBody"]["content"]["application/json"]["schema"], value, "request")

    def check_examples(self):
        """Validates every example of a JSON body; returns their number."""
        count = 0

        def visit(node):
            nonlocal count
            if isinstance(node, list):
                for part in node:
                    visit(part)
            if not isinstance(node, dict):
                return
            for media, described in (node.get("content") or {}).items() if isinstance(node.get("content"), dict) else ():
                examples = [described["example"]] if "example" in described else []
                examples += [example["value"] for example in described.get("examples", {}).values()]
                for example in examples if "json" in media else ():
                    self.validate(described["schema"], example, "example")
                    count += 1
            for part in node.values():
                visit(part)

        visit(self.root["paths"])
        visit(self.root["components"]["responses"])
        return count
