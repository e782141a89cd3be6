// The floor of the door: the sockets and bytes of a chat, without the chat.
//
//   floor PORT FILE NAME=VALUE...
//
// Accepts the requests of load.c. A post is recognised by its length (`post`, `frame`; further commands of a batch have
// `command` bytes each), its bytes are written to FILE, and after an fdatasync its sender gets an answer of `answer` or
// `socket_answer` bytes. Each follower of its room gets `event` or `socket_event` bytes. While one sync is under way, the
// next posts are gathered: group commit. FILE is filled with zeros first, so that a sync writes no sizes, and is written in
// a circle. A room's number is the last twelve digits of its id.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROOMS = 4096, RECEIVE = 1 << 20, FILE_BYTES = 64 << 20 };

struct connection {
    int fd, is_socket, waits_to_send, is_dirty;
    char *in, *out;
    size_t in_count, in_capacity, out_count, out_sent, out_capacity;
};

struct post { struct connection *sender; int room, count; };
struct batch { struct post *posts; size_t count, capacity; char *bytes; size_t byte_count, byte_capacity; };
struct room { struct connection **followers; int count, capacity; };

static size_t post_bytes, frame_bytes, command_bytes;
static char *answer, *event, *socket_answer, *socket_event;
static size_t answer_bytes, event_bytes, socket_answer_bytes, socket_event_bytes;
static struct room rooms[ROOMS];
static struct batch gathered, syncing;
static int poller, file, begin_sync, end_sync, is_syncing;
static struct connection **dirty;
static size_t dirty_count, dirty_capacity;
static char received[RECEIVE];

static void fail(const char *what) {
    fprintf(stderr, "floor: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void *grown(void *memory, size_t *capacity, size_t count, size_t size) {
    if (count <= *capacity) return memory;
    *capacity = count * 2;
    return realloc(memory, *capacity * size);
}

// Sending: bytes are gathered for each connection, and sent once for each round.

static void queue(struct connection *c, const char *data, size_t count) {
    c->out = grown(c->out, &c->out_capacity, c->out_count + count, 1);
    memcpy(c->out + c->out_count, data, count);
    c->out_count += count;
    if (c->is_dirty) return;
    c->is_dirty = 1;
    dirty = grown(dirty, &dirty_capacity, dirty_count + 1, sizeof *dirty);
    dirty[dirty_count++] = c;
}

static void flush(struct connection *c) {
    c->is_dirty = 0;
    ssize_t sent = send(c->fd, c->out + c->out_sent, c->out_count - c->out_sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) c->out_sent += sent;
    int waits = c->out_sent < c->out_count && (sent >= 0 || errno == EAGAIN);
    if (!waits) {
        // As with a chat, a connection that waits for nothing has no buffer.
        free(c->out);
        c->out = NULL;
        c->out_count = c->out_sent = c->out_capacity = 0;
    }
    if (waits == c->waits_to_send) return;
    c->waits_to_send = waits;
    struct epoll_event event = {.events = waits ? EPOLLIN | EPOLLOUT : EPOLLIN, .data.ptr = c};
    epoll_ctl(poller, EPOLL_CTL_MOD, c->fd, &event);
}

// Commits

static void *sync_batches(void *unused) {
    static size_t place;
    for (uint64_t number; read(begin_sync, &number, sizeof number) == sizeof number;) {
        if (place + syncing.byte_count > FILE_BYTES) place = 0;
        if (pwrite(file, syncing.bytes, syncing.byte_count, place) != (ssize_t)syncing.byte_count || fdatasync(file)) fail("the file");
        place += syncing.byte_count;
        if (write(end_sync, &(uint64_t){1}, 8) != 8) fail("eventfd");
    }
    return unused;
}

static void begin_next_sync(void) {
    if (is_syncing || !gathered.count) return;
    struct batch next = gathered;
    gathered = syncing;
    syncing = next;
    gathered.count = gathered.byte_count = 0;
    is_syncing = 1;
    if (write(begin_sync, &(uint64_t){1}, 8) != 8) fail("eventfd");
}

static void answer_batch(void) {
    is_syncing = 0;
    for (size_t index = 0; index < syncing.count; index++) {
        struct post *post = &syncing.posts[index];
        if (post->sender->is_socket) queue(post->sender, socket_answer, socket_answer_bytes);
        else queue(post->sender, answer, answer_bytes);
        struct room *room = &rooms[post->room];
        for (int follower = 0; follower < room->count; follower++) {
            struct connection *c = room->followers[follower];
            for (int copy = 0; copy < post->count; copy++) {
                if (c->is_socket) queue(c, socket_event, socket_event_bytes);
                else queue(c, event, event_bytes);
            }
        }
    }
}

static int room_number(const char *data, size_t length, const char *before) {
    char *place = memmem(data, length, before, strlen(before));
    return place ? atoi(place + strlen(before) + 24) % ROOMS : -1;
}

static void gather(struct connection *c, const char *data, size_t length, size_t single) {
    struct post post = {c, room_number(data, length, "\"thread\":\""), 1 + (length - single) / (command_bytes + 1)};
    if (post.room < 0) fail("a post without a room");
    gathered.posts = grown(gathered.posts, &gathered.capacity, gathered.count + 1, sizeof post);
    gathered.posts[gathered.count++] = post;
    size_t body = post.count * (command_bytes + 1);
    if (body > length) body = length;
    gathered.bytes = grown(gathered.bytes, &gathered.byte_capacity, gathered.byte_count + body, 1);
    memcpy(gathered.bytes + gathered.byte_count, data + length - body, body);
    gathered.byte_count += body;
}

// Requests

static void follow(struct connection *c, int number) {
    if (number < 0) fail("a follow without a room");
    struct room *room = &rooms[number];
    size_t capacity = room->capacity;
    room->followers = grown(room->followers, &capacity, room->count + 1, sizeof c);
    room->capacity = capacity;
    room->followers[room->count++] = c;
}

static void queue_frame(struct connection *c, const char *payload) {
    char head[2] = {(char)0x81, (char)strlen(payload)};
    queue(c, head, 2);
    queue(c, payload, strlen(payload));
}

static void accept_get(struct connection *c, const char *data, size_t length) {
    if (memmem(data, length, "/v1/socket", 10)) {
        const char *head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n";
        c->is_socket = 1;
        queue(c, head, strlen(head));
        queue_frame(c, "{\"hello\":{\"version\":1}}");
    } else if (memmem(data, length, "/v1/events", 10)) {
        const char *head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n7\r\nid: 0\n\n\r\n";
        queue(c, head, strlen(head));
        follow(c, room_number(data, length, "thread="));
    } else {
        const char *head = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
        queue(c, head, strlen(head));
    }
}

// Takes complete requests; returns the number of bytes that it took.
static size_t take_requests(struct connection *c, const char *data, size_t length) {
    size_t taken = 0;
    while (taken < length) {
        const unsigned char *start = (const unsigned char *)data + taken;
        size_t left = length - taken, count;
        if (c->is_socket) {
            if (left < 8) break;
            count = (start[1] & 127) == 126 ? 8 + (size_t)(start[2] << 8 | start[3]) : 6 + (size_t)(start[1] & 127);
            if (left < count) break;
            if (count >= frame_bytes) {
                gather(c, data + taken, count, frame_bytes);
            } else if ((start[0] & 15) == 1) {
                follow(c, room_number(data + taken, count, "\"thread\":\""));
                queue_frame(c, "{\"id\":2,\"following\":{}}");
            }
        } else if (*start == 'P') {
            if (left < (count = post_bytes)) break;
            gather(c, data + taken, count, post_bytes);
        } else {
            char *end = memmem(start, left, "\r\n\r\n", 4);
            if (!end) break;
            count = end + 4 - (const char *)start;
            accept_get(c, data + taken, count);
        }
        taken += count;
    }
    return taken;
}

static void forget(struct connection *c) {
    for (int number = 0; number < ROOMS; number++) {
        struct room *room = &rooms[number];
        for (int index = 0; index < room->count; index++)
            if (room->followers[index] == c) room->followers[index--] = room->followers[--room->count];
    }
    // A post of it may still be under way, so its memory is kept; nothing more is sent to it.
    shutdown(c->fd, SHUT_RDWR);
    close(c->fd);
    c->fd = -1;
}

static void receive(struct connection *c) {
    memcpy(received, c->in, c->in_count);
    ssize_t count = recv(c->fd, received + c->in_count, RECEIVE - c->in_count, MSG_DONTWAIT);
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
        forget(c);
        return;
    }
    size_t length = c->in_count + count, taken = take_requests(c, received, length);
    c->in_count = length - taken;
    if (!c->in_count) return;
    c->in = grown(c->in, &c->in_capacity, c->in_count, 1);
    memcpy(c->in, received + taken, c->in_count);
}

// Returns a message of a length: its start, filled up with blanks in a text of JSON, and its end.
static char *padded(size_t *total, const char *start, const char *end) {
    size_t fixed = strlen(start) + strlen(end);
    if (*total < fixed) *total = fixed;
    char *made = malloc(*total + 1);
    memset(made, ' ', *total);
    memcpy(made, start, strlen(start));
    strcpy(made + *total - strlen(end), end);
    return made;
}

static char *padded_frame(size_t *total, const char *start) {
    char *made = padded(total, "    ", "}");
    size_t head = *total - 2 < 126 ? 2 : 4;
    made[0] = (char)0x81;
    made[1] = head == 2 ? (char)(*total - 2) : 126;
    if (head == 4) {
        made[2] = (char)((*total - 4) >> 8);
        made[3] = (char)(*total - 4);
    }
    memcpy(made + head, start, strlen(start));
    return made;
}

static void make_messages(void) {
    char head[256];
    int fixed = sprintf(head, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %03zu\r\n\r\n", answer_bytes);
    if (answer_bytes > 999 + (size_t)fixed) answer_bytes = 999 + fixed;
    if (answer_bytes < (size_t)fixed + 20) answer_bytes = fixed + 20;
    sprintf(head, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %03zu\r\n\r\n{\"positions\":[", answer_bytes - fixed);
    answer = padded(&answer_bytes, head, "]}");
    if (event_bytes < 40) event_bytes = 40;
    // The size line has three digits; it and the line end of the chunk are seven bytes.
    sprintf(head, "%03zx\r\nid: 1\ndata: {", event_bytes - 7);
    event = padded(&event_bytes, head, "}\n\n\r\n");
    if (socket_answer_bytes < 40) socket_answer_bytes = 40;
    socket_answer = padded_frame(&socket_answer_bytes, "{\"id\":1,\"answer\":{\"positions\":");
    if (socket_event_bytes < 40) socket_event_bytes = 40;
    socket_event = padded_frame(&socket_event_bytes, "{\"follow\":2,\"event\":");
}

int main(int count, char **arguments) {
    struct { const char *name; size_t *value; } options[] = {
        {"post=", &post_bytes}, {"frame=", &frame_bytes}, {"command=", &command_bytes}, {"answer=", &answer_bytes},
        {"event=", &event_bytes}, {"socket_answer=", &socket_answer_bytes}, {"socket_event=", &socket_event_bytes}};
    for (int index = 3; index < count; index++)
        for (size_t option = 0; option < sizeof options / sizeof *options; option++)
            if (!strncmp(arguments[index], options[option].name, strlen(options[option].name)))
                *options[option].value = strtoul(strchr(arguments[index], '=') + 1, NULL, 10);
    if (count < 3 || !post_bytes || !frame_bytes || !command_bytes) {
        fprintf(stderr, "usage: floor PORT FILE post=N frame=N command=N answer=N event=N socket_answer=N socket_event=N\n");
        return 64;
    }
    make_messages();
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if ((file = open(arguments[2], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) < 0) fail(arguments[2]);
    for (size_t place = 0; place < FILE_BYTES; place += RECEIVE)
        if (pwrite(file, received, RECEIVE, place) != RECEIVE) fail(arguments[2]);
    if (fsync(file)) fail(arguments[2]);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(arguments[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 1024)) fail("the port");
    poller = epoll_create1(EPOLL_CLOEXEC);
    begin_sync = eventfd(0, EFD_CLOEXEC);
    end_sync = eventfd(0, EFD_CLOEXEC);
    epoll_ctl(poller, EPOLL_CTL_ADD, listener, &(struct epoll_event){.events = EPOLLIN, .data.ptr = &listener});
    epoll_ctl(poller, EPOLL_CTL_ADD, end_sync, &(struct epoll_event){.events = EPOLLIN, .data.ptr = &end_sync});
    pthread_t thread;
    if (pthread_create(&thread, NULL, sync_batches, NULL)) fail("a thread");
    printf("ready\n");
    fflush(stdout);
    for (;;) {
        struct epoll_event events[512];
        int found = epoll_wait(poller, events, 512, -1);
        for (int index = 0; index < found; index++) {
            void *source = events[index].data.ptr;
            uint64_t number;
            if (source == &listener) {
                struct connection *c = calloc(1, sizeof *c);
                c->fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
                if (c->fd < 0) fail("accept");
                setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
                epoll_ctl(poller, EPOLL_CTL_ADD, c->fd, &(struct epoll_event){.events = EPOLLIN, .data.ptr = c});
            } else if (source == &end_sync) {
                if (read(end_sync, &number, sizeof number) != sizeof number) fail("eventfd");
                answer_batch();
            } else {
                struct connection *c = source;
                if (events[index].events & EPOLLOUT) flush(c);
                if (c->fd >= 0 && events[index].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) receive(c);
            }
        }
        begin_next_sync();
        for (size_t index = 0; index < dirty_count; index++) flush(dirty[index]);
        dirty_count = 0;
    }
}
