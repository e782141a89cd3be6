"""Frames of RFC 6455, right and wrong, as a table like that of Autobahn's cases 1 to 7 and 10.

The message `{"id":7,"unfollow":1}`, with spaces up to the wanted size, has the answer `{"id":7,"problem":...}` with the
code `notFound`. Text that is not JSON has the same with `null` and `notJSON`.
"""

import json
import time

from socket_client import (BINARY, CLOSE, CONTINUATION, PATIENCE, PING, PONG, TEXT, Failed, WebSocket, close_payload, fragments, frame)

LIMIT = 1 << 20
OTHER_FIELD = "\u03ba\u1f79\u03c3\u03bc\u03b5 \u00e9 \U00010437\U0001f95b\ufffd\ufffe \u07ff\u0800\ud7ff\ue000\U0010ffff"
INVALID = {
    "lone continuation": b"\x80", "lone last continuation": b"\xbf", "overlong two": b"\xc0\x80", "overlong slash": b"\xc0\xaf",
    "overlong C1": b"\xc1\xbf", "overlong three": b"\xe0\x80\x80", "overlong three last": b"\xe0\x9f\xbf",
    "surrogate": b"\xed\xa0\x80", "last surrogate": b"\xed\xbf\xbf", "overlong four": b"\xf0\x80\x80\x80",
    "overlong four last": b"\xf0\x8f\xbf\xbf", "beyond": b"\xf4\x90\x80\x80", "F5": b"\xf5\x80\x80\x80", "five bytes": b"\xf8\x88\x80\x80\x80",
    "six bytes": b"\xfc\x84\x80\x80\x80\x80", "FE": b"\xfe", "FF": b"\xff", "unfinished two": b"\xc3(", "unfinished three": b"\xe2\x82(",
    "unfinished four": b"\xf0\x9f\xa5(", "two starts": b"\xe2\xe2\x82\xac",
}


def asking(size=0, number=7, field=None):
    """Returns a message of a size that is answered with the number."""
    text = b'{"id":%d,"unfollow":1}' % number if field is None else json.dumps({"id": number, field: 1}, ensure_ascii=False).encode()
    return text + b" " * (size - len(text))


def answer(number=7, code=None):
    return ("answer", number, code)


def pong(payload=b""):
    return ("pong", payload)


def close(*codes):
    return ("close", codes)


def positive():
    """Yields (name, steps, expected), where a step is (opcode, parts): both clients send these."""
    for size in (22, 125, 126, 127, 128, 65_535, 65_536, 65_537, LIMIT):
        for opcode in (TEXT, BINARY):
            yield f"1 {'text' if opcode == TEXT else 'binary'} of {size} bytes", [(opcode, [asking(size)])], [answer(7, "notFound")]
    yield "1 text of no bytes", [(TEXT, [b""])], [answer(None, "notJSON")]
    yield "1 binary of no bytes", [(BINARY, [b""])], [answer(None, "notJSON")]
    yield "1 binary that is not UTF-8", [(BINARY, [b"\xff\xfe"])], [answer(None, "invalidUTF8")]
    yield "1 text of 126 zeros", [(TEXT, [b"\0" * 126])], [answer(None, "notJSON")]
    for size in (0, 1, 5, 124, 125):
        payload = bytes(index * 37 & 255 for index in range(size))
        yield f"2 ping of {size} bytes", [(PING, [payload])], [pong(payload)]
        yield f"2 pong of {size} bytes without a ping", [(PONG, [payload]), (PING, [b"after"])], [pong(b"after")]
    pings = [b"ping %d" % number for number in range(10)]
    yield "2 ten pings", [(PING, [ping]) for ping in pings], [pong(ping) for ping in pings]
    text = asking(40, field=OTHER_FIELD)
    middle = len(text.decode().encode()[:20].decode(errors="ignore").encode())
    yield "5 text in two fragments", [(TEXT, [text[:middle], text[middle:]])], [answer(7, "unknownField")]
    yield "5 text in three, the first empty", [(TEXT, [b"", text[:middle], text[middle:]])], [answer(7, "unknownField")]
    yield "5 text in three, the last empty", [(TEXT, [text[:middle], text[middle:], b""])], [answer(7, "unknownField")]
    yield "5 three empty fragments", [(TEXT, [b"", b"", b""])], [answer(None, "notJSON")]
    yield "5 binary in ten fragments", [(BINARY, [asking(100)[start:start + 10] for start in range(0, 100, 10)])], [answer(7, "notFound")]
    large = asking(LIMIT)
    for size in (4_096, 65_536):
        parts = [large[start:start + size] for start in range(0, LIMIT, size)]
        yield f"9 1 MiB in fragments of {size}", [(TEXT, parts)], [answer(7, "notFound")]
    yield "6 every plane", [(TEXT, [asking(field=OTHER_FIELD)])], [answer(7, "unknownField")]
    messages = [(TEXT, [asking(number=number)]) for number in range(1, 201)]
    yield "7 200 messages", messages, [answer(number, "notFound") for number in range(1, 201)]


def closes():
    """Yields (name, payload of a close, codes of the answer)."""
    yield "empty", b"", (0, 1000)
    for code in (1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999):
        yield f"{code}", close_payload(code), (code,)
    for code in (1012, 1013, 1014):
        # Registered after RFC 6455: known to some libraries.
        yield f"{code}", close_payload(code), (code, 1002)
    for code in (0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535):
        yield f"{code}", close_payload(code), (1002,)
    # The library takes it for an empty one.
    yield "one byte", b"\x03", (0, 1002)
    yield "with a reason", close_payload(1000, "gute Nacht \U0001f95b".encode()), (1000,)
    yield "with a reason of 123 bytes", close_payload(1000, b"x" * 123), (1000,)
    for name, payload in INVALID.items():
        yield f"with a reason that is not UTF-8 ({name})", close_payload(1000, b"x" + payload), (1007,)
    yield "with an unfinished reason", close_payload(1000, b"\xe2\x82"), (1007,)


def raw():
    """Yields (name, data to send, expected): data is a list of writes."""
    ask, text = frame(TEXT, asking()), asking(field=OTHER_FIELD)
    alive = [answer(7, "notFound")]
    for name, payload, codes in closes():
        yield f"7 close {name}", [frame(CLOSE, payload)], [close(*codes)]
    # What is not answered before the close may have had no effect.
    yield "7 a message before the close", [ask + frame(CLOSE, close_payload(1000))], [("texts then close", (0, 1), 1000)]
    reason = frame(CLOSE, close_payload(1000, "gute Nacht \U0001f95b".encode()))
    yield "7 close with a reason, byte by byte", [bytes([byte]) for byte in reason], [close(1000)]
    # In bytes and, so that each is received alone, with pauses.
    wrong = frame(CLOSE, close_payload(1000, b"\xff"))
    yield "7 close with a wrong reason, byte by byte", [bytes([byte]) for byte in wrong], [close(1007)]
    yield "7 close with a wrong reason, byte by byte with pauses", [part for byte in wrong for part in (bytes([byte]), None)], [close(1007)]
    for point in range(1, len(reason)):
        yield f"7 close with a reason, in two parts, the first of {point} bytes", [reason[:point], None, reason[point:]], [close(1000)]
    before = ask + reason
    for point in range(len(ask) - 1, len(before)):
        parts = [before[:point], None, before[point:]]
        yield f"7 a message and a close with a reason, in two parts, the first of {point} bytes", parts, [("texts then close", (0, 1), 1000)]
    half = frame(CLOSE, close_payload(1000, b"xx\xe2\x82"))
    yield "7 close with an unfinished reason, byte by byte with pauses", [part for byte in half for part in (bytes([byte]), None)], [close(1007)]
    yield "7 a message and a ping after the close", [frame(CLOSE, close_payload(1000)) + ask + frame(PING, b"x")], [close(1000)]
    yield "7 two closes", [frame(CLOSE, close_payload(1000)) + frame(CLOSE, close_payload(1001))], [close(1000)]
    yield "7 a close inside a message", [frame(TEXT, b"x", fin=False) + frame(CLOSE, close_payload(1000))], [close(1000)]
    yield "7 a close in two fragments", [frame(CLOSE, b"\x03", fin=False) + frame(CONTINUATION, b"\xe8")], [close(1002)]
    yield "7 a close of 126 bytes", [frame(CLOSE, close_payload(1000, b"x" * 124))], [close(1002)]
    # Frames in single bytes, and all frames in one write.
    for size in (22, 125, 126, 300):
        yield f"1 text of {size} bytes, byte by byte", [bytes([byte]) for byte in frame(TEXT, asking(size))], alive
    yield "2 ping, byte by byte", [bytes([byte]) for byte in frame(PING, b"hello")], [pong(b"hello")]
    yield "2 50 frames in one write", [b"".join(frame(PING, b"%d" % number) for number in range(50))], [pong(b"%d" % number) for number in range(50)]
    for opcode in (PING, PONG):
        for size in (126, 127, 1_000, 65_536):
            yield f"2 control frame {opcode} of {size} bytes", [frame(opcode, b"x" * size)], [close(1002)]
        yield f"2 control frame {opcode} with the long form of a length", [frame(opcode, b"x" * 10, form=16)], [close(1002)]
        yield f"5 control frame {opcode} that is not final", [frame(opcode, b"x", fin=False) + frame(CONTINUATION, b"y")], [close(1002)]
    # Reserved bits and opcodes.
    for rsv in range(1, 8):
        for opcode, name in ((TEXT, "text"), (PING, "ping"), (CLOSE, "close")):
            payload = close_payload(1000) if opcode == CLOSE else asking() if opcode == TEXT else b"x"
            yield f"3 reserved bits {rsv:03b} in a {name}", [frame(opcode, payload, rsv=rsv)], [close(1002)]
        second = frame(TEXT, b"{", fin=False) + frame(CONTINUATION, b"}", rsv=rsv)
        yield f"3 reserved bits {rsv:03b} in a continuation", [second], [close(1002)]
    yield "3 a message before the wrong frame", [ask + frame(TEXT, b"x", rsv=4)], [("texts then close", (0, 1), 1002)]
    for opcode in (3, 4, 5, 6, 7, 11, 12, 13, 14, 15):
        yield f"4 reserved opcode {opcode}", [frame(opcode)], [close(1002)]
        yield f"4 reserved opcode {opcode} with a payload", [frame(opcode, b"hello")], [close(1002)]
        yield f"4 reserved opcode {opcode} inside a message", [frame(TEXT, b"x", fin=False) + frame(opcode, b"hello")], [close(1002)]
    # Masks and lengths.
    for opcode, payload in ((TEXT, asking()), (BINARY, asking()), (PING, b"x"), (PONG, b""), (CLOSE, close_payload(1000)), (TEXT, asking(70_000))):
        yield f"masking: opcode {opcode} of {len(payload)} bytes, unmasked", [frame(opcode, payload, mask=False)], [close(1002)]
    yield "masking: a continuation, unmasked", [frame(TEXT, b"x", fin=False) + frame(CONTINUATION, b"y", mask=False)], [close(1002)]
    for form, length in ((16, 5), (16, 125), (64, 5), (64, 125), (64, 126), (64, 65_535)):
        yield f"length {length} in {form} bits", [frame(TEXT, asking(length) if length > 22 else b"x" * length, form=form)], [close(1002)]
    yield "length 2^63", [frame(TEXT, b"x", form=64, length=1 << 63)], [close(1002, 1009)]
    yield "length 2^64 - 1", [frame(TEXT, b"x", form=64, length=(1 << 64) - 1)], [close(1002, 1009)]
    yield "length 2^62", [frame(TEXT, b"x", form=64, length=1 << 62)], [close(1009)]
    yield "length 2^62, of which none comes", [frame(TEXT, b"", form=64, length=1 << 62)], [close(1009)]
    yield "length 1 MiB and a byte, of which one comes", [frame(TEXT, b"x", form=64, length=LIMIT + 1)], [close(1009)]
    # Messages beyond the limit; the close must arrive although more is on its way.
    yield "9 1 MiB and a byte", [frame(TEXT, asking(LIMIT + 1))], [close(1009)]
    yield "9 4 MiB", [frame(TEXT, asking(4 * LIMIT))], [close(1009)]
    yield "9 binary of 1 MiB and a byte", [frame(BINARY, asking(LIMIT + 1))], [close(1009)]
    yield "9 1 MiB and a byte in fragments", fragments(TEXT, [b" " * 65_536] * 16 + [b"x"]), [close(1009)]
    yield "9 1 MiB and a byte in two fragments", fragments(BINARY, [b" " * LIMIT, b"x"]), [close(1009)]
    # Fragments.
    whole = fragments(TEXT, [asking()[:5], asking()[5:9], asking()[9:]])
    yield "5 pings between fragments", [frame(PING, b"a").join(whole)], [pong(b"a"), pong(b"a")] + alive
    yield "5 pongs between fragments", [frame(PONG, b"a").join(whole)], alive
    yield "5 a ping between fragments, byte by byte", [bytes([byte]) for byte in frame(PING, b"a").join(whole)], [pong(b"a"), pong(b"a")] + alive
    yield "5 bytes as fragments", [b"".join(fragments(TEXT, [bytes([byte]) for byte in asking(200)]))], alive
    yield "5 bytes as fragments with empty ones", [b"".join(fragments(TEXT, [part for byte in asking() for part in (bytes([byte]), b"")]))], alive
    for opcode in (TEXT, BINARY):
        yield f"5 a message {opcode} inside a message", [frame(TEXT, b"a", fin=False) + frame(opcode, b"b")], [close(1002)]
        yield f"5 a first fragment {opcode} inside a message", [frame(BINARY, b"a", fin=False) + frame(opcode, b"b", fin=False)], [close(1002)]
    yield "5 a continuation of nothing", [frame(CONTINUATION, b"x")], [close(1002)]
    yield "5 an empty continuation of nothing", [frame(CONTINUATION)], [close(1002)]
    yield "5 a continuation of nothing that is not final", [frame(CONTINUATION, b"x", fin=False) + ask], [close(1002)]
    yield "5 a continuation after a whole message", [ask + frame(CONTINUATION, b"x")], [("texts then close", (0, 1), 1002)]
    yield "5 a continuation after the last fragment", [b"".join(whole) + frame(CONTINUATION, b"x")], [("texts then close", (0, 1), 1002)]
    # UTF-8.
    yield "6 text, byte by byte in fragments", [b"".join(fragments(TEXT, [bytes([byte]) for byte in text]))], [answer(7, "unknownField")]
    yield "6 text, byte by byte", [bytes([byte]) for byte in frame(TEXT, text)], [answer(7, "unknownField")]
    for point in range(1, len(text)):
        yield f"6 text in fragments, split at byte {point}", fragments(TEXT, [text[:point], text[point:]]), [answer(7, "unknownField")]
    yield "6 a ping inside a character", [frame(TEXT, b'{"id":7,"\xf0\x9f', fin=False) + frame(PING) + frame(CONTINUATION, b'\xa5\x9b":1}')], [
        pong(), answer(7, "unknownField")]
    for name, payload in INVALID.items():
        yield f"6 {name}", [frame(TEXT, payload)], [close(1007)]
        yield f"6 {name} inside a text", [frame(TEXT, b'{"id":7,"' + payload + b'":1}')], [close(1007)]
        yield f"6 {name} as the second fragment", fragments(TEXT, [b"x", payload + b"x"]), [close(1007)]
        yield f"6 {name} in fragments of a byte", [b"".join(fragments(TEXT, [bytes([byte]) for byte in payload + b"x"]))], [close(1007)]
        yield f"6 {name}, byte by byte", [bytes([byte]) for byte in frame(TEXT, payload + b"x")], [close(1007)]
    for name, payload in (("two", b"\xc3"), ("three", b"\xe2\x82"), ("four", b"\xf0\x9f\xa5")):
        yield f"6 text that ends inside a character of {name}", [frame(TEXT, b"x" + payload)], [close(1007)]
        yield f"6 last fragment that ends inside a character of {name}", fragments(TEXT, [b"x", payload]), [close(1007)]
        yield f"6 empty last fragment after half a character of {name}", fragments(TEXT, [b"x" + payload, b""]), [close(1007)]
    yield "6 a character that ends in the next message", [frame(TEXT, b"\xc3") + frame(TEXT, b"\xa9")], [close(1007)]


def expect(web_socket, expected):
    """Receives what is expected, and then closes if the server has not."""
    for kind, *values in expected:
        if kind == "answer":
            message = json.loads(web_socket.text())
            if message.get("id") != values[0] or message.get("problem", {}).get("code") != values[1]:
                raise Failed(f"expected the answer {values}, got {message}")
        elif kind == "pong":
            opcode, payload = web_socket.next()
            if (opcode, payload) != (PONG, values[0]):
                raise Failed(f"expected a pong with {values[0]!r}, got the opcode {opcode} with {payload[:200]!r}")
        else:
            codes = values[-1] if isinstance(values[-1], tuple) else (values[-1],)
            counts = (0,) if kind == "close" else values[0] if isinstance(values[0], tuple) else (values[0],)
            code, texts = web_socket.wait_for_end()
            if code is None:
                raise Failed(f"expected a close with {codes}, the connection ended without one")
            if code not in codes or len(texts) not in counts:
                raise Failed(f"expected {counts} texts and a close with {codes}, got {len(texts)} and {code}")
            return
    web_socket.say({"id": 99, "unfollow": 1})
    if (message := web_socket.json()).get("id") != 99:
        raise Failed(f"a frame too many: {message}")
    web_socket.leave()


def run_raw(server, person, writes, expected):
    with WebSocket(server.port, token=person.token) as web_socket:
        web_socket.hello()
        web_socket.answers_pings = False
        try:
            for data in writes:
                if data is None:
                    time.sleep(0.02)
                else:
                    web_socket.send(data)
        except (ConnectionResetError, BrokenPipeError):
            # The server ends a connection while wrong frames still come.
            pass
        expect(web_socket, expected)


def run_wsproto(server, person, steps, expected):
    """Runs a positive case with the state machine of wsproto."""
    import socket

    from wsproto import ConnectionType, WSConnection, events
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as stream:
        connection = WSConnection(ConnectionType.CLIENT)
        authorization = [(b"Authorization", f"Bearer {person.token}".encode())]
        stream.sendall(connection.send(events.Request(host=f"127.0.0.1:{server.port}", target="/v1/socket", extra_headers=authorization)))
        received, text, closed = [], "", None

        def read(count):
            nonlocal text, closed
            while len(received) < count and closed is None:
                data = stream.recv(1 << 16)
                connection.receive_data(data or None)
                for event in connection.events():
                    if isinstance(event, events.TextMessage):
                        text += event.data
                        if event.message_finished:
                            received.append(("text", text))
                            text = ""
                    elif isinstance(event, events.Pong):
                        received.append(("pong", bytes(event.payload)))
                    elif isinstance(event, events.CloseConnection):
                        closed = event.code
                    elif isinstance(event, events.AcceptConnection):
                        received.append(("accepted", ""))
                    else:
                        raise Failed(f"wsproto: {event}")
        read(2)
        for opcode, parts in steps:
            for index, part in enumerate(parts):
                last = index == len(parts) - 1
                event = {TEXT: lambda: events.TextMessage(data=part.decode(), message_finished=last),
                         BINARY: lambda: events.BytesMessage(data=part, message_finished=last),
                         PING: lambda: events.Ping(payload=part), PONG: lambda: events.Pong(payload=part)}[opcode]()
                stream.sendall(connection.send(event))
        read(2 + len(expected))
        found = []
        for kind, value in received[2:]:
            if kind == "text":
                message = json.loads(value)
                found.append(answer(message["id"], message["problem"]["code"]))
            else:
                found.append(pong(value))
        if found != expected:
            raise Failed(f"wsproto: expected {expected[:20]}, got {found[:20]}")
        stream.sendall(connection.send(events.CloseConnection(code=1000)))
        read(len(received) + 1)
        if closed != 1000:
            raise Failed(f"wsproto: the close was answered with {closed} after {received[-1:]}")


def check(server):
    person, = server.people_named("Conformance")
    cases = [(name, [data for opcode, parts in steps for data in fragments(opcode, parts)], expected) for name, steps, expected in positive()]
    cases += raw()
    failures = []
    for name, writes, expected in cases:
        try:
            run_raw(server, person, writes, expected)
        except (Failed, OSError, ValueError) as error:
            sent = b"".join(data for data in writes if data)
            failures.append(f"{name}: {type(error).__name__}: {error}; sent {sent[:60].hex(' ')}{' ...' if len(sent) > 60 else ''}")
    try:
        import wsproto
    except ImportError:
        with_wsproto = "SKIPPED with wsproto: it is not installed"
    else:
        count = 0
        for name, steps, expected in positive():
            count += 1
            try:
                run_wsproto(server, person, steps, expected)
            except (Failed, OSError, ValueError) as error:
                failures.append(f"{name}, with wsproto: {type(error).__name__}: {error}")
        with_wsproto = f"{count} with wsproto {wsproto.__version__}"
    if failures:
        raise Failed(f"{len(failures)} of {len(cases)} cases:\n" + "\n".join(failures))
    print(f"conformance: {len(cases)} cases as expected; {with_wsproto}")
