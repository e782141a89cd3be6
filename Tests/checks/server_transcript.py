"""Runs the transcript of the documentation with curl: directly, and over TLS through nginx."""

import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import time

from ports import free_port
from server_client import PATIENCE, Failed, Server

PAGES = pathlib.Path(__file__).resolve().parent.parent.parent / "Sources" / "ChatServer" / "ChatServer.docc"
MARK = "<<end of block>>"
# The ports and files that the configuration of the page names.
PAGE_SERVER, PAGE_HOST = "127.0.0.1:8080", "chat.example"


def fenced(page, language):
    """Returns the fenced blocks of a language in a page."""
    return re.findall(rf"^```{language}\n(.*?)^```$", (PAGES / page).read_text(), re.M | re.S)


def pattern(line):
    """Returns the expression for a line of expected output, in which `...` stands for any text."""
    return ".*".join(re.escape(part) for part in line.split("..."))


def run(base, mail, environment=None):
    """Runs the script of the page and compares the output of each block; returns the number of lines."""
    blocks = fenced("Transcript.md", "sh")
    script = "".join(f"{block}\necho '{MARK}'\n" for block in blocks)
    process = subprocess.Popen(["sh", "-eu", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
                               env={**os.environ, "BASE": base, "MAIL": str(mail), **(environment or {})})
    try:
        output = process.communicate(timeout=PATIENCE)[0].decode()
    except subprocess.TimeoutExpired:
        output = None
    finally:
        # The curl of a follower is in the process group of the script.
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # every process of the group has ended
    if output is None:
        raise Failed(f"the transcript has not ended in {PATIENCE} s")
    if process.returncode != 0:
        raise Failed(f"the transcript ended with status {process.returncode}: {output}")
    *printed, rest = output.split(MARK + "\n")
    if len(printed) != len(blocks) or rest:
        raise Failed(f"{len(printed)} of {len(blocks)} blocks were run: {output}")
    count = 0
    for block, text in zip(blocks, printed):
        expected = [line[2:].removeprefix(" ") for line in block.splitlines() if line.startswith("#>")]
        lines = text.splitlines()
        wrong = [(line, shown) for line, shown in zip(lines, expected) if not re.fullmatch(pattern(shown), line)]
        if len(lines) != len(expected) or wrong:
            raise Failed(f"a block printed {lines}, the page shows {expected}; the first difference: {wrong[:1]}")
        count += len(lines)
    return len(blocks), count


def curl(tool, scratch):
    with Server(tool, scratch, trust=False) as server:
        blocks, lines = run(server.url, server.mail)
    print(f"curl: {blocks} blocks of the transcript, {lines} lines as the page shows them", flush=True)


def proxy(tool, scratch):
    nginx = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
    if nginx is None or not shutil.which("openssl"):
        print("proxy: SKIPPED: nginx or openssl is missing", flush=True)
        return
    scratch.mkdir(parents=True)
    certificate, key, port = scratch / "certificate.pem", scratch / "key.pem", free_port()
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    base = f"https://localhost:{port}"
    with Server(tool, scratch / "server", ["--origin", base, "--trust-proxy", "127.0.0.1"], trust=False) as server:
        configuration = configured(port, server.port, certificate, key)
        (scratch / "nginx.conf").write_text(configuration.replace("SCRATCH", str(scratch)))
        for folder in ("body", "proxy"):
            (scratch / folder).mkdir()
        with open(scratch / "nginx.log", "wb") as log:
            process = subprocess.Popen([nginx, "-p", str(scratch), "-c", str(scratch / "nginx.conf"), "-e", str(scratch / "error.log")],
                                       stdout=log, stderr=log)
        try:
            wait_for_port(port, process, scratch)
            blocks, lines = run(base, server.mail, {"CURL_CA_BUNDLE": str(certificate)})
            over_tls(base, certificate, server)
        finally:
            process.terminate()
            process.wait()
    print(f"proxy: {blocks} blocks of the transcript over TLS through nginx, {lines} lines as the page shows them", flush=True)


def configured(port, server_port, certificate, key):
    """Returns a configuration for a user and a scratch directory around the `http` part of the page."""
    blocks = fenced("OperatingAServer.md", "nginx")
    if len(blocks) != 1:
        raise Failed(f"OperatingAServer.md has {len(blocks)} blocks of nginx")
    text = blocks[0]
    for shown, used in ((PAGE_SERVER, f"127.0.0.1:{server_port}"), (f"server_name {PAGE_HOST};", "server_name localhost;"),
                        ("/etc/ssl/chat.pem", str(certificate)), ("/etc/ssl/chat.key", str(key)), ("listen 443 ssl http2;", f"listen 127.0.0.1:{port} ssl http2;")):
        if text.count(shown) != 1:
            raise Failed(f"the configuration of the page has {text.count(shown)} times {shown!r}")
        text = text.replace(shown, used)
    # Started by root, nginx would take another user, who may not write to the scratch directory.
    user = "user root;\n" if os.getuid() == 0 else ""
    return f"""{user}daemon off;
pid SCRATCH/nginx.pid;
worker_processes 1;
events {{ worker_connections 1024; }}
http {{
client_body_temp_path SCRATCH/body;
proxy_temp_path SCRATCH/proxy;
fastcgi_temp_path SCRATCH/proxy;
uwsgi_temp_path SCRATCH/proxy;
scgi_temp_path SCRATCH/proxy;
access_log off;
{text}
}}
"""


def wait_for_port(port, process, scratch):
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except ConnectionRefusedError:
            time.sleep(0.05)
    raise Failed(f"nginx does not listen: {(scratch / 'error.log').read_text()} {(scratch / 'nginx.log').read_text()}")


def over_tls(base, certificate, server):
    """The cookie of an https origin, a foreign origin, a large body, and the address that the limits count."""
    def ask(*options):
        done = subprocess.run(["curl", "-sS", "-i", "--http1.1", "--cacert", str(certificate), *options], capture_output=True, check=False, timeout=PATIENCE)
        if done.returncode != 0:
            raise Failed(f"curl {options} ended with status {done.returncode}: {done.stderr.decode()}")
        return done.stdout.decode()

    json = ["-H", "Content-Type: application/json"]
    signed = ask(f"{base}/v1/sign-in", *json, "-H", f"Origin: {base}", "-d", '{"email":"bob@example.org","password":"battery staple"}')
    cookie = re.search(r"^set-cookie: (__Host-chat-session=[^;]+);(.*)$", signed, re.I | re.M)
    if not cookie or {"secure", "httponly", "samesite=strict", "path=/"} - {part.strip().lower() for part in cookie.group(2).split(";")}:
        raise Failed(f"the cookie over TLS: {signed}")
    with_cookie = ["-H", f"Cookie: {cookie.group(1)}"]
    for options, status in (
        ([f"{base}/v1/me", *with_cookie], "200"), ([f"{base}/v1/me", *with_cookie, "-H", "Origin: https://evil.example"], "403"),
        ([f"{base}/v1/commands", *json, *with_cookie, "-H", f"Origin: {base}", "-d", '{"leaveThread":{"thread":"M1"}}'], "200"),
        ([f"{base}/v1/commands", *json, *with_cookie, "-H", f"Origin: {server.url}x", "-d", '{"leaveThread":{"thread":"M1"}}'], "403"),
        ([f"{base}/v1/commands", *json, *with_cookie, "-d", " " * 100_000], "400"),
    ):
        first = ask(*options).split("\r\n")[0]
        if first.split(" ")[1] != status:
            raise Failed(f"curl {str(options)[:300]} through the proxy: {first}, not {status}")
    socket_over_tls(base, certificate, cookie.group(1))
    # The proxy replaces what a client claims to be. Loopback has a higher limit than 40, other addresses a lower one.
    for number in range(40):
        status = ask(f"{base}/v1/confirm", *json, "-H", "X-Forwarded-For: 10.1.2.3", "-d",
                     '{"email":"nobody%d@example.org","code":"000000"}' % number).split(" ")[1]
        if status == "429":
            raise Failed("a forged X-Forwarded-For is believed through the proxy")


def socket_over_tls(base, certificate, cookie):
    """The handshake of the WebSocket through the proxy, and the first message."""
    host, _, port = base.removeprefix("https://").partition(":")
    lines = ["GET /v1/socket HTTP/1.1", f"Host: {host}:{port}", f"Origin: {base}", f"Cookie: {cookie}", "Upgrade: websocket", "Connection: Upgrade",
             "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="]
    context = ssl.create_default_context(cafile=str(certificate))
    with socket.create_connection(("127.0.0.1", int(port)), timeout=PATIENCE) as raw, context.wrap_socket(raw, server_hostname=host) as connection:
        connection.sendall("\r\n".join(lines).encode() + b"\r\n\r\n")
        answer = b""
        while b'{"hello":' not in answer:
            data = connection.recv(4096)
            if not data:
                raise Failed(f"the WebSocket through the proxy: {answer!r}")
            answer += data
    if not answer.startswith(b"HTTP/1.1 101 "):
        raise Failed(f"the WebSocket through the proxy: {answer!r}")
