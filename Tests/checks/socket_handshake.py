"""The opening handshake of RFC 6455, section 4, as a table."""

import base64
import os

from socket_client import TEXT, Failed, Handshake, Refused, WebSocket, frame


def table(server, person, cookie):
    """Yields (name, handshake, early bytes, expected status, expected headers)."""
    port, url = server.port, f"http://127.0.0.1:{server.port}"
    upgrade = {"sec-websocket-version": "13"}

    def case(name, status, change=lambda handshake: handshake, headers=None, path="/v1/socket", token=person.token, early=b""):
        handshake = Handshake(port, path, token)
        change(handshake)
        return name, handshake, early, status, headers or {}

    def header(name, *values):
        return lambda handshake: handshake.replacing(name, *values)

    def attribute(name, value):
        return lambda handshake: setattr(handshake, name, value)

    yield case("plain", 101)
    # The request line.
    for method in ("HEAD", "POST", "PUT", "DELETE", "OPTIONS", "get"):
        # Which status depends on the method; a socket does not begin.
        yield case(f"method {method}", (400, 405, 426), attribute("method", method))
    # The library ends the connection instead of an answer.
    yield case("HTTP/1.0", (400, 426, 505, None), attribute("version", "HTTP/1.0"))
    for query in ("?x=1", "?=", "?token=x&token=x"):
        yield case(f"query {query}", 400, attribute("path", "/v1/socket" + query))
    yield case("path with slash", 404, attribute("path", "/v1/socket/"))
    yield case("other path", 404, attribute("path", "/v1/sockets"))
    yield case("other path that exists", 200, attribute("path", "/v1/me"))
    # Upgrade and Connection are lists, in any case.
    for value in ("WebSocket", "WEBSOCKET", "h2c, websocket", "websocket , h2c", "\twebsocket"):
        yield case(f"Upgrade: {value!r}", 101, header("Upgrade", value))
    yield case("Upgrade twice", 101, header("Upgrade", "h2c", "websocket"))
    for values in ((), ("h2c",), ("websockets",), ("web socket",), ("",)):
        yield case(f"Upgrade: {values}", (400, 426), header("Upgrade", *values), upgrade)
    for value in ("upgrade", "UPGRADE", "keep-alive, Upgrade", "Upgrade,keep-alive", "keep-alive,\tupgrade"):
        yield case(f"Connection: {value!r}", 101, header("Connection", value))
    yield case("Connection twice", 101, header("Connection", "keep-alive", "Upgrade"))
    for values in ((), ("keep-alive",), ("upgraded",), ("",)):
        yield case(f"Connection: {values}", (400, 426), header("Connection", *values), upgrade)
    # The version and the key.
    for values in ((), ("12",), ("8",), ("0",), ("013",), ("14",), ("13, 8",), ("thirteen",), ("",), ("13", "8"), ("8", "13")):
        yield case(f"version {values}", (400, 426), header("Sec-WebSocket-Version", *values), upgrade)
    sixteen = base64.b64encode(os.urandom(16)).decode()
    for name, values in (("missing", ()), ("empty", ("",)), ("15 bytes", (base64.b64encode(bytes(15)).decode(),)),
                         ("17 bytes", (base64.b64encode(bytes(17)).decode(),)), ("not Base64", ("!" * 22 + "==",)),
                         ("without padding", (sixteen[:22],)), ("twice", (sixteen, sixteen)), ("two in one", (f"{sixteen}, {sixteen}",)),
                         ("URL alphabet", ("-_" * 11 + "==",)), ("space inside", (sixteen[:10] + " " + sixteen[10:],))):
        yield case(f"key {name}", (400, 426), header("Sec-WebSocket-Key", *values), upgrade)
    for key in (sixteen, "AAAAAAAAAAAAAAAAAAAAAA==", "//////////////////////w==", "dGhlIHNhbXBsZSBub25jZQ=="):
        if len(key) == 24:
            def with_key(handshake, key=key):
                handshake.replacing("Sec-WebSocket-Key", key).key = key
            yield case(f"key {key}", 101, with_key)
    # Origins.
    for origin in (url, f"http://localhost:{port}"):
        yield case(f"Origin: {origin}", 101, header("Origin", origin))
    for origin in ("null", "https://evil.example", f"https://127.0.0.1:{port}", "http://127.0.0.1", f"http://127.0.0.1:{port}.evil.example",
                   f"http://evil.example:{port}", "", f"{url}/", f"{url}, https://evil.example"):
        yield case(f"Origin: {origin!r}", 403, header("Origin", origin))
    yield case("two origins", 400, header("Origin", url, "https://evil.example"))
    yield case("foreign Host", 421, header("Host", "evil.example"))
    yield case("no Host", 400, header("Host"))
    # Subprotocols.
    version = "chat-journal.v1"
    for values in ((version,), (f"other, {version}",), (f"{version},chat-journal.v2",), ("other", version)):
        yield case(f"subprotocol {values}", 101, header("Sec-WebSocket-Protocol", *values), {"sec-websocket-protocol": version})
    for values in (("other",), ("CHAT-JOURNAL.V1",), ("chat-journal.v2",), ("",)):
        yield case(f"subprotocol {values}", 101, header("Sec-WebSocket-Protocol", *values), {"sec-websocket-protocol": None})
    for value in ("permessage-deflate", "permessage-deflate; client_max_window_bits, x-webkit-deflate-frame"):
        yield case(f"extension {value}", 101, header("Sec-WebSocket-Extensions", value), {"sec-websocket-extensions": None})
    # Sessions.
    challenge = {"www-authenticate": "Bearer"}
    yield case("no session", 401, headers=challenge, token=None)
    yield case("unknown session", 401, headers=challenge, token="A" * 43)
    yield case("another scheme", 401, header("Authorization", f"Basic {person.token}"), challenge)
    yield case("token in the query", 401, attribute("path", f"/v1/socket?token={person.token}"), challenge, token=None)
    yield case("token as subprotocol", 401, header("Sec-WebSocket-Protocol", person.token), challenge, token=None)
    yield case("two tokens", 400, header("Authorization", f"Bearer {person.token}", f"Bearer {person.token}"))
    yield case("cookie", 101, header("Cookie", f"chat-session={cookie}"), token=None)
    yield case("cookie among others", 101, header("Cookie", f"a=b; chat-session={cookie}; c=d"), token=None)
    yield case("cookie of a secure origin", 401, header("Cookie", f"__Host-chat-session={cookie}"), challenge, token=None)
    yield case("unknown cookie", 401, header("Cookie", "chat-session=" + "A" * 43), challenge, token=None)

    def hijack(handshake):
        handshake.replacing("Cookie", f"chat-session={cookie}").replacing("Origin", "https://evil.example")
    yield case("cookie with a foreign origin", 403, hijack, token=None)
    # A body, and bytes that come together with the handshake.
    yield case("body of no bytes", 101, header("Content-Length", "0"))
    yield case("body", (400, 415, 426), header("Content-Length", "5"), early=b"hello")
    first = frame(TEXT, b'{"id":7,"unfollow":1}')
    yield case("a message with the handshake", 101, early=first)
    yield case("20 messages with the handshake", 101, early=first * 20)
    yield case("100 messages with the handshake", 101, early=first * 100)
    yield case("half a message with the handshake", 101, early=first[:9])


def check_case(server, name, handshake, early, status, headers):
    statuses = status if isinstance(status, tuple) else (status,)
    # A frame has a head of 6 bytes, whose mask can look like another head, and a payload of 21.
    expected_answers = len(early) // 27 if 101 in statuses else 0
    try:
        with WebSocket(server.port, handshake=handshake, early=early) as web_socket:
            found, answer = 101, dict(web_socket.headers)
            if 101 in statuses:
                web_socket.hello()
                for _ in range(expected_answers if len(early) >= 20 else 0):
                    if web_socket.json().get("id") != 7:
                        raise Failed(f"{name}: a wrong answer to a message that came with the handshake")
                if 0 < len(early) < 20:
                    web_socket.answers_pings = False
                    # The rest of the frame: its payload is masked with the key that was sent.
                    key, known = early[2:6], early[6:]
                    payload = b'{"id":7,"unfollow":1}'
                    web_socket.send(bytes(byte ^ key[index % 4] for index, byte in enumerate(payload))[len(known):])
                    if web_socket.json().get("id") != 7:
                        raise Failed(f"{name}: a wrong answer to a message in two parts")
                if web_socket.ask({"id": 8, "unfollow": 1})["problem"]["code"] != "notFound":
                    raise Failed(f"{name}: the socket does not answer")
                web_socket.leave()
    except Refused as refusal:
        found, answer = refusal.status, refusal.headers
    except ConnectionResetError:
        found, answer = None, {}
    if found not in statuses:
        raise Failed(f"{name}: expected the status {status}, got {found} {answer}; sent {handshake.bytes() + early!r}")
    for key, value in headers.items():
        # 400 has no version to offer.
        if found != 400 and answer.get(key) != value:
            raise Failed(f"{name}: the header {key} is {answer.get(key)!r}, not {value!r}")
    if found != 101 and "x-content-type-options" not in answer and found not in (400, 505, None):
        raise Failed(f"{name}: {found} without the standard headers: {answer}")


def check(server):
    person, = server.people_named("Handshake")
    _, headers, value = server.ask("POST", "/v1/sign-in", {"email": person.email, "password": person.password})
    if not headers["set-cookie"].startswith(f"chat-session={value['token']};"):
        raise Failed(f"the cookie of the session is {headers['set-cookie']!r}")
    failures, count = [], 0
    for case in table(server, person, value["token"]):
        count += 1
        try:
            check_case(server, *case)
        except (Failed, OSError) as error:
            failures.append(f"{case[0]}: {type(error).__name__}: {error}")
    if failures:
        raise Failed(f"{len(failures)} of {count} handshakes:\n" + "\n".join(failures))
    print(f"handshake: {count} handshakes of RFC 6455, section 4: statuses and headers as expected")
