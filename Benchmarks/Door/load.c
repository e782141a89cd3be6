// A load generator for chats: one process, one thread, one epoll loop.
//
//   load PLAN protocol=http|socket|xmpp [senders=N] [followers=N] [group=N] [batch=N] [idle=N] [quiet=N]
//        [seconds=S] [warm=S] [pid=PID]
//
// PLAN is a file with the lines "port N", "account TOKEN" or "account NAME PASSWORD", "room ID" and, for XMPP,
// "domain NAME" and "service NAME". The accounts take turns; an account has any number of connections.
//
//   http     senders send POST /v1/commands; followers and idle connections are Server-Sent Events of /v1/events
//   socket   senders, followers and idle connections are WebSockets of /v1/socket
//   xmpp     senders, followers and idle connections are occupants of rooms, over TCP with SASL PLAIN
//
// Each sender sends its next post when the one before is answered: with a receipt, or, with XMPP, with its own message
// from the room. Followers are in rooms of `group` connections; idle ones are in rooms of 10, the last ones, which get no
// posts. Quiet connections are open and follow nothing. With `pid`, the memory of that process is read before and after
// they are open.
//
// Prints "metric value" lines. A wrong answer, a lost connection or a missing delivery ends it with status 1.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HTTP, STREAM, SOCKET, XMPP };  // what a connection speaks
enum { OPENING, FEATURES, AUTHENTICATED, BINDING, JOINING, READY };
enum { MAXIMUM_OPENING = 32, SCRATCH = 1 << 20 };
static const char text[] = "Could someone pick up milk? I can leave money on the step.";

struct connection {
    int fd, index, kind, state, account;
    const char *room;  // NULL for a quiet connection
    int sends, follows, waits;
    long number;
    uint64_t sent_at;
    // Chunks of a stream: the bytes left of the chunk, its size line so far, and whether the head has been read.
    size_t chunk_left, chunk_size;
    int chunk_state, has_head;
    // Received bytes that are not a complete message.
    char *carry;
    size_t carried, capacity;
};

struct account { char name[128], password[128]; };

static struct account *accounts;
static char (*rooms)[128];
static int account_count, room_count, port;
static char domain[128], service[128];
static int protocol = -1, senders, followers, group = 10, batch = 1, idle, quiet, server_pid;
static double seconds = 2, warm = 0.5;

static struct connection *connections;
static int connection_count, opened, opening, ready, poller, stopping, leaving;
static char scratch[2 * SCRATCH + 1], raw[SCRATCH];
static uint64_t answers, deliveries, answer_bytes, delivery_bytes;
static uint32_t *latencies;
static size_t latency_count, latency_capacity;
static size_t request_bytes, command_bytes;

static void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "load: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    exit(1);
}

static uint64_t now(void) {  // in nanoseconds
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000ull + time.tv_nsec;
}

static char *find(const char *data, size_t length, const char *needle) { return memmem(data, length, needle, strlen(needle)); }

static void send_all(struct connection *c, const char *data, size_t length) {
    ssize_t count = send(c->fd, data, length, MSG_NOSIGNAL | MSG_DONTWAIT);
    // At most one request is on its way, so the system always has room for it.
    if (count != (ssize_t)length) fail("connection %d: sent %zd of %zu bytes: %s", c->index, count, length, strerror(errno));
}

static void send_text(struct connection *c, const char *format, ...) {
    char data[2048];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(data, sizeof data, format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof data) fail("a request of %d bytes", length);
    send_all(c, data, length);
}

// Sends a masked frame. The key is 0, which is allowed; the server unmasks all the same.
static void send_frame(struct connection *c, int opcode, const char *payload, size_t length) {
    static char frame[1 << 20];
    size_t head = 2;
    frame[0] = (char)(0x80 | opcode);
    if (length < 126) {
        frame[1] = (char)(0x80 | length);
    } else if (length < 65536) {
        frame[1] = (char)(0x80 | 126);
        frame[2] = (char)(length >> 8);
        frame[3] = (char)length;
        head = 4;
    } else {
        fail("a frame of %zu bytes", length);
    }
    memset(frame + head, 0, 4);
    memcpy(frame + head + 4, payload, length);
    send_all(c, frame, head + 4 + length);
    if (opcode == 1) request_bytes = head + 4 + length;
}

// Posts

static void tag(struct connection *c, char *into) { sprintf(into, "@%05d-%09ld", c->index, c->number); }

static void post(struct connection *c) {
    static char body[1 << 20];
    char mark[64], command[512];
    c->number++;
    tag(c, mark);
    c->sent_at = now();
    c->waits = 1;
    if (c->kind == XMPP) {
        send_text(c, "<message to='%s@%s' type='groupchat' id='%s'><body>%s %s</body></message>", c->room, service, mark, mark, text);
        return;
    }
    size_t one = sprintf(command, "{\"postMessage\":{\"thread\":\"%s\",\"body\":\"%s %s\"}}", c->room, mark, text), length = 0;
    command_bytes = one;
    if (c->kind == SOCKET) length = sprintf(body, "{\"id\":1,\"commands\":");
    if (batch > 1) body[length++] = '[';
    for (int number = 0; number < batch; number++) {
        if (number) body[length++] = ',';
        memcpy(body + length, command, one);
        length += one;
    }
    if (batch > 1) body[length++] = ']';
    if (c->kind == SOCKET) {
        body[length++] = '}';
        send_frame(c, 1, body, length);
        return;
    }
    char request[4096];
    int head = sprintf(
        request, "POST /v1/commands HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"
                 "Content-Length: %zu\r\n\r\n", port, accounts[c->account].name, length);
    if (head + length > sizeof request) fail("batch: only sockets send batches");
    memcpy(request + head, body, length);
    request_bytes = head + length;
    send_all(c, request, head + length);
}

static void answered(struct connection *c, size_t length) {
    if (!c->waits) fail("connection %d: an answer that was not asked for", c->index);
    if (latency_count == latency_capacity) {
        latency_capacity = latency_capacity ? 2 * latency_capacity : 65536;
        latencies = realloc(latencies, latency_capacity * sizeof *latencies);
    }
    latencies[latency_count++] = (uint32_t)((now() - c->sent_at) / 1000);
    c->waits = 0;
    answers++;
    answer_bytes += length;
    if (!stopping) post(c);
}

static void delivered(size_t length) {
    deliveries++;
    delivery_bytes += length;
}

static void become_ready(struct connection *c) {
    c->state = READY;
    ready++;
    opening--;
}

// Receiving: each function takes complete messages from the data and returns the number of bytes that it took.

static void check_receipt(const char *data, size_t length) {
    if (!find(data, length, "\"positions\"") || find(data, length, "\"rejection\"") || find(data, length, "\"problem\""))
        fail("a post was not accepted: %.*s", (int)length, data);
}

static size_t receive_http(struct connection *c, char *data, size_t length) {
    char *end = find(data, length, "\r\n\r\n");
    if (!end) return 0;
    if (strncmp(data, "HTTP/1.1 200 ", 13)) fail("an answer: %.*s", (int)length, data);
    *end = 0;
    char *field = strcasestr(data, "\r\ncontent-length:");
    if (!field) fail("an answer without a length: %s", data);
    size_t head = end + 4 - data, body = strtoul(field + 17, NULL, 10);
    *end = '\r';
    if (length < head + body) return 0;
    if (c->state != READY) {
        become_ready(c);
    } else {
        check_receipt(data + head, body);
        answered(c, head + body);
    }
    return head + body;
}

// Decodes chunks; returns the number of bytes of the body.
static size_t decode_chunks(struct connection *c, const char *data, size_t length, char *into) {
    size_t made = 0;
    for (size_t at = 0; at < length;) {
        if (c->chunk_state == 0) {  // in the line with the size
            char digit = data[at++];
            if (digit == '\n') {
                if (!c->chunk_size) fail("connection %d: the stream has ended: %.*s", c->index, (int)made, into);
                c->chunk_left = c->chunk_size;
                c->chunk_state = 1;
            } else if (digit != '\r') {
                c->chunk_size = 16 * c->chunk_size + (digit <= '9' ? digit - '0' : (digit | 32) - 'a' + 10);
            }
        } else if (c->chunk_state == 1) {
            size_t count = length - at < c->chunk_left ? length - at : c->chunk_left;
            memcpy(into + made, data + at, count);
            made += count;
            at += count;
            if (!(c->chunk_left -= count)) c->chunk_state = 2;
        } else if (data[at++] == '\n') {  // the line end after a chunk
            c->chunk_state = 0;
            c->chunk_size = 0;
        }
    }
    return made;
}

static size_t receive_stream(struct connection *c, char *data, size_t length) {
    size_t taken = 0;
    char *end;
    while ((end = memmem(data + taken, length - taken, "\n\n", 2))) {
        size_t count = end + 2 - (data + taken);
        if (c->state != READY) become_ready(c);
        else if (find(data + taken, count, "\nevent: ")) fail("a notice: %.*s", (int)count, data + taken);
        else if (find(data + taken, count, "\ndata: {")) delivered(count);
        taken += count;
    }
    return taken;
}

static void receive_text(struct connection *c, char *data, size_t length, size_t frame) {
    if (c->state == OPENING) {
        if (!find(data, length, "\"hello\"")) fail("not a hello: %.*s", (int)length, data);
        if (c->follows) {
            char follow[256];
            c->state = JOINING;
            send_frame(c, 1, follow, sprintf(follow, "{\"id\":2,\"follow\":{\"thread\":\"%s\"}}", c->room));
        } else {
            become_ready(c);
        }
    } else if (c->state == JOINING) {
        if (!find(data, length, "\"following\"")) fail("not followed: %.*s", (int)length, data);
        become_ready(c);
    } else if (length > 9 && !memcmp(data, "{\"follow\"", 9)) {
        delivered(frame);
    } else {
        check_receipt(data, length);
        answered(c, frame);
    }
}

static size_t receive_socket(struct connection *c, char *data, size_t length) {
    size_t taken = 0;
    if (!c->has_head) {
        char *end = find(data, length, "\r\n\r\n");
        if (!end) return 0;
        if (strncmp(data, "HTTP/1.1 101 ", 13)) fail("a handshake: %.*s", (int)length, data);
        c->has_head = 1;
        taken = end + 4 - data;
    }
    while (length - taken >= 2) {
        unsigned char *frame = (unsigned char *)data + taken;
        size_t head = 2, count = frame[1];
        if (count == 126) {
            if (length - taken < 4) break;
            head = 4;
            count = frame[2] << 8 | frame[3];
        } else if (count == 127) {
            if (length - taken < 10) break;
            head = 10;
            count = 0;
            for (int index = 2; index < 10; index++) count = count << 8 | frame[index];
        }
        if (length - taken < head + count) break;
        int opcode = frame[0] & 15;
        if (opcode == 1) receive_text(c, data + taken + head, count, head + count);
        else if (opcode == 9) send_frame(c, 10, data + taken + head, count);
        else fail("connection %d: a frame with the opcode %d: %.*s", c->index, opcode, (int)count, data + taken + head);
        taken += head + count;
    }
    return taken;
}

// XMPP

static void open_xmpp_stream(struct connection *c) {
    send_text(
        c, "<?xml version='1.0'?><stream:stream to='%s' xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' version='1.0'>",
        domain);
}

static void authenticate(struct connection *c) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char plain[300] = {0};
    char encoded[400], *out = encoded;
    struct account *account = &accounts[c->account];
    size_t length = 1 + sprintf((char *)plain + 1, "%s", account->name);
    length += 1 + sprintf((char *)plain + length + 1, "%s", account->password);
    for (size_t at = 0; at < length; at += 3) {
        unsigned bits = plain[at] << 16 | plain[at + 1] << 8 | plain[at + 2];
        for (int shift = 18; shift >= 0; shift -= 6) *out++ = digits[bits >> shift & 63];
    }
    for (size_t pad = 0; pad < (3 - length % 3) % 3; pad++) out[-1 - (int)pad] = '=';
    *out = 0;
    send_text(c, "<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>%s</auth>", encoded);
}

// Each step of the opening sends something and waits for the end of the answer.
static size_t open_xmpp(struct connection *c, char *data, size_t length) {
    static const char *const ends[] = {"</stream:features>", "<success", "</stream:features>", "</iq>", "</message>"};
    if (find(data, length, "type='error'") || find(data, length, "<stream:error") || find(data, length, "<failure"))
        fail("connection %d: %.*s", c->index, (int)length, data);
    char *end = find(data, length, ends[c->state]);
    // The head of the next stream follows `success`, so its own end is awaited too.
    if (end) end = memchr(end, '>', data + length - end);
    if (!end) return 0;
    switch (c->state++) {
    case OPENING: authenticate(c); break;
    case FEATURES: open_xmpp_stream(c); break;
    case AUTHENTICATED:
        send_text(c, "<iq type='set' id='b'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'><resource>r%d</resource></bind></iq>", c->index);
        break;
    case BINDING:
        if (!c->room) {
            become_ready(c);
            break;
        }
        send_text(
            c, "<presence to='%s@%s/n%d'><x xmlns='http://jabber.org/protocol/muc'><history maxstanzas='0'/></x></presence>",
            c->room, service, c->index);
        break;
    case JOINING:  // the subject of the room
        become_ready(c);
        break;
    }
    return end + 1 - data;
}

static size_t receive_xmpp(struct connection *c, char *data, size_t length) {
    size_t taken = 0;
    while (c->state != READY) {
        size_t count = open_xmpp(c, data + taken, length - taken);
        if (!count) return taken;
        taken += count;
    }
    char *end, mark[64];
    while ((end = find(data + taken, length - taken, "</message>"))) {
        char *stanza = data + taken;
        size_t count = end + 10 - stanza;
        if (find(stanza, count, "type='error'")) fail("a post was not accepted: %.*s", (int)count, stanza);
        if (find(stanza, count, "<body")) {
            delivered(count);
            if (c->waits) {
                tag(c, mark);
                if (find(stanza, count, mark)) answered(c, count);
            }
        }
        taken += count;
    }
    if (find(data + taken, length - taken, "<stream:error")) fail("connection %d: %.*s", c->index, (int)(length - taken), data + taken);
    return taken;
}

// Connections

static void receive(struct connection *c) {
    memcpy(scratch, c->carry, c->carried);
    char *into = c->kind == STREAM ? raw : scratch + c->carried;
    ssize_t count = recv(c->fd, into, SCRATCH, MSG_DONTWAIT);
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0 && leaving) {
        close(c->fd);
        ready--;
        return;
    }
    if (count <= 0) fail("connection %d: %s: %.*s", c->index, count ? strerror(errno) : "closed", (int)c->carried, c->carry);
    size_t length = c->carried + count, taken = 0;
    if (c->kind == STREAM) {
        if (c->has_head) {
            length = c->carried + decode_chunks(c, raw, count, scratch + c->carried);
        } else {
            memcpy(scratch + c->carried, raw, count);
            char *end = find(scratch, length, "\r\n\r\n");
            if (end) {
                if (strncmp(scratch, "HTTP/1.1 200 ", 13)) fail("a stream: %.*s", (int)length, scratch);
                c->has_head = 1;
                size_t head = end + 4 - scratch, rest = length - head;
                memcpy(raw, scratch + head, rest);
                length = decode_chunks(c, raw, rest, scratch);
            }
        }
        if (c->has_head) taken = receive_stream(c, scratch, length);
    } else if (c->kind == HTTP) {
        taken = receive_http(c, scratch, length);
    } else if (c->kind == SOCKET) {
        taken = receive_socket(c, scratch, length);
    } else {
        taken = receive_xmpp(c, scratch, length);
    }
    size_t left = length - taken;
    if (left > SCRATCH) fail("connection %d: a message of more than %d bytes", c->index, SCRATCH);
    if (left > c->capacity) c->carry = realloc(c->carry, c->capacity = left + 512);
    memcpy(c->carry, scratch + taken, left);
    c->carried = left;
}

static void open_connection(struct connection *c) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&address, sizeof address)) fail("connection %d: %s", c->index, strerror(errno));
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, c->fd, &event)) fail("epoll: %s", strerror(errno));
    opening++;
    const char *token = accounts[c->account].name;
    if (c->kind == XMPP) open_xmpp_stream(c);
    else if (c->kind == STREAM)
        send_text(
            c, "GET /v1/events?thread=%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\nAccept: text/event-stream\r\n\r\n",
            c->room, port, token);
    else if (c->kind == SOCKET)
        send_text(
            c, "GET /v1/socket HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
               "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: chat-journal.v1\r\n\r\n",
            port, token);
    else if (c->sends) become_ready(c);
    else send_text(c, "GET /v1/me HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n\r\n", port, token);
}

static void turn(int timeout) {
    struct epoll_event events[512];
    int count = epoll_wait(poller, events, 512, timeout);
    for (int index = 0; index < count; index++) receive(events[index].data.ptr);
}

// Creates the connections: followers, senders that follow nothing, idle and quiet ones.
static void make_connections(void) {
    if (protocol == XMPP && !followers) {
        // An occupant of a room gets its posts.
        followers = senders;
        group = 1;
    }
    int followed = followers / group, active = room_count - (idle + 9) / 10, follows = protocol == HTTP ? STREAM : protocol;
    if (followed * group != followers || followed > active || (!followers && senders > active)) fail("too few rooms");
    int apart = followers && protocol != HTTP ? 0 : senders;
    connection_count = followers + apart + idle + quiet;
    connections = calloc(connection_count, sizeof *connections);
    for (int index = 0; index < connection_count; index++) {
        struct connection *c = &connections[index];
        c->index = index;
        c->account = index % account_count;
        if (index < followers) {
            c->kind = follows;
            c->follows = 1;
            c->room = rooms[index / group];
        } else if (index < followers + apart) {
            c->kind = protocol;
            c->sends = 1;
            c->room = rooms[(index - followers) % (followers ? followed : active)];
        } else if (index < followers + apart + idle) {
            c->kind = follows;
            c->follows = 1;
            c->room = rooms[active + (index - followers - apart) / 10];
        } else {
            c->kind = protocol;
        }
    }
    if (!apart)
        for (int sender = 0; sender < senders; sender++) connections[sender % followed * group + sender / followed].sends = 1;
}

// Memory and times

static double memory(const char *file, const char *field) {  // in bytes
    char path[64], line[256];
    sprintf(path, "/proc/%d/%s", server_pid, file);
    FILE *in = fopen(path, "r");
    while (in && fgets(line, sizeof line, in))
        if (!strncmp(line, field, strlen(field))) {
            fclose(in);
            return 1024.0 * strtoul(line + strlen(field), NULL, 10);
        }
    fail("%s has no %s", path, field);
    return 0;
}

static double processor_time(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static int ascending(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static void wait_for(double time) {
    for (uint64_t end = now() + (uint64_t)(time * 1e9), at; (at = now()) < end;) turn((int)((end - at) / 1000000 + 1));
}

static void measure(void) {
    for (int index = 0; index < connection_count; index++)
        if (connections[index].sends) post(&connections[index]);
    // A server may load code or open files at its first posts.
    for (uint64_t first = now(); answers < (uint64_t)senders && now() - first < 30000000000ull;) turn(100);
    wait_for(warm);
    uint64_t begin = now(), first_answers = answers, first_deliveries = deliveries;
    double used = processor_time();
    latency_count = 0;
    wait_for(seconds);
    double taken = (now() - begin) / 1e9;
    uint64_t posts = (answers - first_answers) * batch;
    printf("posts_per_s %.1f\n", posts / taken);
    if (followers) printf("deliveries_per_s %.1f\n", (deliveries - first_deliveries) / taken);
    if (!latency_count) fail("no post was answered");
    qsort(latencies, latency_count, sizeof *latencies, ascending);
    printf("answer_p50_ms %.3f\n", latencies[latency_count / 2] / 1e3);
    printf("answer_p99_ms %.3f\n", latencies[latency_count * 99 / 100] / 1e3);
    printf("client_busy %.2f\n", (processor_time() - used) / taken);
    // Every delivery arrives, and no post is without its answer.
    stopping = 1;
    uint64_t expected, before, quiet_since = now();
    for (int waiting = 1; waiting;) {
        before = deliveries + answers;
        turn(100);
        waiting = 0;
        for (int index = 0; index < connection_count; index++) waiting += connections[index].waits;
        expected = followers ? answers * batch * group : 0;
        if (deliveries < expected) waiting = 1;
        if (deliveries + answers != before) quiet_since = now();
        if (now() - quiet_since > 30000000000ull)
            fail("%lu deliveries of %lu, %d posts without an answer", deliveries, expected, waiting);
    }
    if (deliveries != expected) fail("%lu deliveries instead of %lu", deliveries, expected);
    printf("request_bytes %zu\ncommand_bytes %zu\nanswer_bytes %.0f\n", request_bytes, command_bytes, (double)answer_bytes / answers);
    if (followers) printf("delivery_bytes %.0f\n", (double)delivery_bytes / deliveries);
}

// Leaves the rooms, because an occupant whose connection ends would stay, and waits until all connections are closed.
static void leave(void) {
    leaving = 1;
    for (int index = 0; index < connection_count; index++) {
        struct connection *c = &connections[index];
        if (c->room) send_text(c, "<presence type='unavailable' to='%s@%s/n%d'/>", c->room, service, index);
        send_text(c, "</stream:stream>");
    }
    for (uint64_t begin = now(); ready && now() - begin < 30000000000ull;) turn(100);
    if (ready) fail("%d connections have not been closed", ready);
}

static void read_plan(const char *path) {
    char line[512];
    FILE *in = fopen(path, "r");
    if (!in) fail("%s: %s", path, strerror(errno));
    while (fgets(line, sizeof line, in)) {
        if (sscanf(line, "port %d", &port) == 1 || sscanf(line, "domain %127s", domain) == 1) continue;
        if (sscanf(line, "service %127s", service) == 1) continue;
        accounts = realloc(accounts, (account_count + 1) * sizeof *accounts);
        rooms = realloc(rooms, (room_count + 1) * sizeof *rooms);
        if (sscanf(line, "account %127s %127s", accounts[account_count].name, accounts[account_count].password) >= 1) account_count++;
        else if (sscanf(line, "room %127s", rooms[room_count]) == 1) room_count++;
        else fail("a line of the plan: %s", line);
    }
    fclose(in);
    if (!port || !account_count || !room_count) fail("a plan needs a port, an account and a room");
}

static void read_option(const char *option) {
    struct { const char *name; int *value; } numbers[] = {
        {"senders=", &senders}, {"followers=", &followers}, {"group=", &group}, {"batch=", &batch},
        {"idle=", &idle}, {"quiet=", &quiet}, {"pid=", &server_pid}};
    for (size_t index = 0; index < sizeof numbers / sizeof *numbers; index++)
        if (!strncmp(option, numbers[index].name, strlen(numbers[index].name))) {
            *numbers[index].value = atoi(strchr(option, '=') + 1);
            return;
        }
    if (!strcmp(option, "protocol=http")) protocol = HTTP;
    else if (!strcmp(option, "protocol=socket")) protocol = SOCKET;
    else if (!strcmp(option, "protocol=xmpp")) protocol = XMPP;
    else if (sscanf(option, "seconds=%lf", &seconds) != 1 && sscanf(option, "warm=%lf", &warm) != 1) fail("an option: %s", option);
}

int main(int count, char **arguments) {
    if (count < 3) fail("usage: load PLAN protocol=http|socket|xmpp [NAME=VALUE]...");
    read_plan(arguments[1]);
    for (int index = 2; index < count; index++) read_option(arguments[index]);
    if (protocol < 0) fail("protocol= is missing");
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    poller = epoll_create1(EPOLL_CLOEXEC);
    make_connections();
    double resident = server_pid ? memory("status", "VmRSS:") : 0, proportional = server_pid ? memory("smaps_rollup", "Pss:") : 0;
    uint64_t begin = now();
    int had = 0;
    for (uint64_t progress = now(); ready < connection_count;) {
        while (opened < connection_count && opening < MAXIMUM_OPENING) open_connection(&connections[opened++]);
        turn(100);
        if (ready != had) progress = now();
        had = ready;
        if (now() - progress > 30000000000ull) fail("%d of %d connections are open", ready, connection_count);
    }
    printf("connections %d\nopening_s %.2f\n", connection_count, (now() - begin) / 1e9);
    if (server_pid) {
        wait_for(1);
        printf("rss_bytes_each %.0f\n", (memory("status", "VmRSS:") - resident) / connection_count);
        printf("pss_bytes_each %.0f\n", (memory("smaps_rollup", "Pss:") - proportional) / connection_count);
    }
    if (senders) measure();
    if (protocol == XMPP) leave();
    return 0;
}
