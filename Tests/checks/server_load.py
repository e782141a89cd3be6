"""Measures the server: requests and deliveries per second, delays, memory for each follower.

The client is on the same machine, so that it takes part of the processor. Requests are made by `wrk`, because a client in
Python would be the slower side. The followers are in a process of their own, with one epoll loop.
"""

import multiprocessing
import os
import re
import select
import shutil
import subprocess
import threading
import time

from server_client import Connection, Failed, Server, Stream, identifier

MEMBERS = 10
PEOPLE = 20
CONNECTIONS = 32


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))] if values else float("nan")


def milliseconds(text):
    """Reads a time of wrk, such as `12.34ms`."""
    number, unit = re.fullmatch(r"([0-9.]+)(us|ms|s|m)", text).groups()
    return float(number) * {"us": 0.001, "ms": 1, "s": 1000, "m": 60_000}[unit]


def wrk(server, target, token, seconds, script=None):
    """Runs wrk; returns requests per second, the median and the 99th percentile in ms, and the number of errors and timeouts."""
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds:g}s", "--latency", "-H", f"Authorization: Bearer {token}"]
    command += (["-s", str(script)] if script else []) + [server.url + target]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    rate = re.search(r"Requests/sec:\s+([0-9.]+)", done.stdout)
    half, last = (re.search(rf"^ +{part}% +(\S+) *$", done.stdout, re.M) for part in (50, 99))
    if not rate or not half or not last:
        raise Failed(f"wrk: {done.stdout} {done.stderr}")
    errors = re.findall(r"(?:Non-2xx or 3xx responses:|connect|read|write|timeout) ([0-9]+)", done.stdout)
    return float(rate.group(1)), milliseconds(half.group(1)), milliseconds(last.group(1)), sum(map(int, errors))


def post_script(path, threads):
    """Writes a script that posts a message to each of the threads in turn."""
    listed = ",".join(f'"{thread}"' for thread in threads)
    path.write_text(f"""
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
local threads, number = {{{listed}}}, 0
request = function()
    number = number % #threads + 1
    return wrk.format(nil, nil, nil, '{{"postMessage":{{"thread":"' .. threads[number] .. '","body":"Could someone pick up milk? I can leave money on the step."}}}}')
end
""")
    return path


def follow(port, streams, ready, commands, results):
    """The process of the followers: (token, thread) of each. Reports the arrivals of a measurement."""
    poll, found = select.epoll(), {}
    for token, thread in streams:
        stream = Stream(port, token, thread=thread).opened()
        stream.socket.setblocking(False)
        found[stream.socket.fileno()] = stream
        poll.register(stream.socket.fileno(), select.EPOLLIN)
    ready.put(len(found))
    identity = re.compile(rb"id: ct1-([0-9]+)-[^\n]*\ndata: ")
    arrivals, count, timed, ended = [], 0, False, 0
    while True:
        if not commands.empty():
            command = commands.get()
            if command == "end":
                return
            if command == "report":
                results.put((count, arrivals, ended))
            timed, arrivals, count = command == "times", [], 0
        for number, _ in poll.poll(0.05):
            stream = found[number]
            data = stream.socket.recv(1 << 18)
            if not data:
                poll.unregister(number)
                ended += 1
                continue
            # A block that two reads share is not counted: they are community.
            if timed:
                now = time.monotonic()
                arrivals += [(int(position), now) for position in identity.findall(data)]
            count += data.count(b"\ndata: ")


def prepared(server, web, followers):
    """Creates the people and the threads; returns the people, the threads and the (token, thread) of each follower."""
    people = [server.person(web) for _ in range(PEOPLE)]
    threads, streams = [], []
    for number in range(max(1, followers // MEMBERS)):
        members = [people[(number + step) % PEOPLE] for step in range(MEMBERS - 1)] + [people[0]]
        members = list(dict.fromkeys(members))
        if len(members) < MEMBERS:
            members.append(people[(number + MEMBERS) % PEOPLE])
        thread = identifier()
        web.execute({"openThread": {"thread": thread, "name": f"Load {number}"}}, people[0].token)
        for person in members:
            if person is not people[0]:
                web.execute({"joinThread": {"thread": thread}}, person.token)
        threads.append(thread)
        streams += [(person.token, thread) for person in members]
    return people, threads, streams[:followers]


def delays(server, token, threads, seconds, rate):
    """Posts at a steady rate; returns the time of the answer to each post by position, and the time that each took."""
    answered, took = {}, []
    with Connection(server.port) as web:
        begin, number = time.monotonic(), 0
        while time.monotonic() - begin < seconds:
            start = time.monotonic()
            answer = web.execute({"postMessage": {"thread": threads[number % len(threads)], "body": "At noon."}}, token)
            answered[answer["positions"][0]] = time.monotonic()
            took.append(answered[answer["positions"][0]] - start)
            number += 1
            time.sleep(max(0, begin + number / rate - time.monotonic()))
    return answered, took


def hammer(server, stop, counts):
    with Connection(server.port, timeout=120) as web:
        while not stop.is_set():
            answer = web.ask("POST", "/v1/sign-in", {"email": f"nobody-{identifier()}@example.org", "password": "wrong password"}, headers=server.from_elsewhere())
            counts[answer.status] = counts.get(answer.status, 0) + 1


def measure(tool, scratch, followers, seconds):
    with Server(tool, scratch) as server, server.connection() as web:
        people, threads, streams = prepared(server, web, followers)
        token = people[0].token
        for _ in range(4):
            web.post("/v1/commands", [{"postMessage": {"thread": threads[0], "body": f"Message {number} of a page, as long as people write."}} for number in range(50)], token)
        print(f"load: {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {len(threads)} threads of {MEMBERS}", flush=True)
        if shutil.which("wrk"):
            requests(server, scratch, token, threads, seconds)
        else:
            print("load: SKIPPED: wrk is missing, so requests per second are not measured", flush=True)
        deliveries(server, scratch, token, threads, streams, seconds)


def requests(server, scratch, token, threads, seconds):
    script = post_script(scratch / "post.lua", threads)
    for name, target, with_script in (("a page of 50", f"/v1/threads/{threads[0]}/timeline?limit=50", None), ("posts", "/v1/commands", script)):
        rate, half, last, errors = wrk(server, target, token, seconds, with_script)
        print(f"load: {name}: {rate:.0f} requests/s, median {half:.2f} ms, p99 {last:.2f} ms, {errors} errors, {CONNECTIONS} connections", flush=True)
    stop, counts = threading.Event(), {}
    workers = [threading.Thread(target=hammer, args=(server, stop, counts)) for _ in range(8)]
    for worker in workers:
        worker.start()
    try:
        rate, half, last, errors = wrk(server, "/v1/commands", token, seconds, script)
    finally:
        stop.set()
        for worker in workers:
            worker.join()
    signs = ", ".join(f"{count} times {status}" for status, count in sorted(counts.items()))
    print(f"load: posts while 8 clients sign in ({signs}): {rate:.0f} requests/s, median {half:.2f} ms, p99 {last:.2f} ms, {errors} errors", flush=True)


def deliveries(server, scratch, token, threads, streams, seconds):
    before = server.memory()
    context = multiprocessing.get_context("spawn")
    ready, commands, results = context.Queue(), context.SimpleQueue(), context.Queue()
    process = context.Process(target=follow, args=(server.port, streams, ready, commands, results), daemon=True)
    process.start()
    count = ready.get(timeout=180)
    after = server.memory()
    print(f"load: {count} followers, {(after - before) / count:.1f} KiB each ({before >> 10} MiB before, {after >> 10} MiB with them)", flush=True)
    try:
        commands.put("times")
        time.sleep(0.5)
        answered, took = delays(server, token, threads, seconds, rate=20)
        time.sleep(1)
        commands.put("report")
        number, arrivals, ended = results.get(timeout=60)
        waits = [(at - answered[position]) * 1000 for position, at in arrivals if position in answered]
        print(f"load: {len(answered)} posts at 20/s, {number} deliveries ({ended} streams ended): after the answer, median {percentile(waits, 0.5):.2f} ms, p99 {percentile(waits, 0.99):.2f} ms, "
              f"longest {max(waits, default=float('nan')):.2f} ms; a post took a median of {percentile(took, 0.5) * 1000:.2f} ms", flush=True)
        if number != len(answered) * len(streams) // len(threads):
            print(f"load: {len(answered) * len(streams) // len(threads)} deliveries were expected", flush=True)
        if shutil.which("wrk"):
            commands.put("count")
            time.sleep(0.5)
            rate, half, last, _ = wrk(server, "/v1/commands", token, seconds, post_script(scratch / "post.lua", threads))
            commands.put("report")
            number, _, ended = results.get(timeout=60)
            print(f"load: {rate:.0f} posts/s (p99 {last:.2f} ms) at full speed: {number / seconds:.0f} deliveries/s to {count - ended} followers, {server.memory() >> 10} MiB", flush=True)
    finally:
        commands.put("end")
        process.join(10)
        if process.is_alive():
            process.kill()
