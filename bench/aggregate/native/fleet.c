/*
 * Plays archives: each listens on a port of its own, and answers as a plan says. In C, because what it
 * costs is taken from what is measured on the same cores.
 *
 *     fleet COUNT     prints the ports of so many archives, in a line
 *     PATH\n          on standard input: reads the plan there, and prints "ready"
 *     count\n         prints the requests and the connections since the last count
 *
 * It ends with its standard input. A plan has numbers of 32 bits in the order of this machine: the
 * number of originals; the delay and the place of the answer to any other; of each original, how many bytes it has, and the bytes up to a multiple of four; then for
 * each archive and each original the delay in milliseconds and where in the plan the answer is, 0 for
 * none; at those places the length of an answer, and the answer.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAX_ARCHIVES 64
#define MAX_FILES 65536
#define HEAD_BYTES 8192
/* Delays are shorter than this, in milliseconds; a power of two. */
#define WHEEL 65536

typedef struct {
  int archive;       /* -1 while nothing is open there */
  uint32_t life;     /* how many connections this descriptor was */
  uint32_t used;
  char head[HEAD_BYTES];
} Connection;

typedef struct Pending {
  struct Pending *next;
  int fd;
  uint32_t life;
  uint32_t answer;
} Pending;

static Connection *connections[MAX_FILES];
static Pending *wheel[WHEEL], *spare;
static long pending, turned;
static unsigned long requests, opened;
static int archives, poll_fd, listeners[MAX_ARCHIVES];

static const char *plan;
static uint32_t original_count, slot_mask;
static const uint32_t *unknown; /* delay and answer where the original is another */
static const uint32_t *table;   /* delay and answer of each archive and original */
static uint32_t *slots;         /* one more than the number of the original */
static const char **names;
static uint32_t *lengths;

static void die(const char *what) {
  perror(what);
  exit(1);
}

static long now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000L + t.tv_nsec / 1000000L;
}

static uint32_t hash_of(const char *text, uint32_t length) {
  uint32_t hash = 0x811c9dc5;
  for (uint32_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)text[i]) * 0x01000193;
  return hash ^ (hash >> 15);
}

static void read_plan(const char *path) {
  int file = open(path, O_RDONLY);
  struct stat info;
  if (file < 0 || fstat(file, &info) != 0) die(path);
  plan = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
  if (plan == MAP_FAILED) die(path);
  close(file);
  const uint32_t *at = (const uint32_t *)plan;
  original_count = *at++;
  unknown = at;
  at += 2;
  uint32_t size = 16;
  while (size < original_count * 2) size *= 2;
  slot_mask = size - 1;
  slots = calloc(size, sizeof *slots);
  names = calloc(original_count, sizeof *names);
  lengths = calloc(original_count, sizeof *lengths);
  for (uint32_t i = 0; i < original_count; i++) {
    lengths[i] = *at++;
    names[i] = (const char *)at;
    at += (lengths[i] + 3) / 4;
    uint32_t slot = hash_of(names[i], lengths[i]) & slot_mask;
    while (slots[slot] != 0) slot = (slot + 1) & slot_mask;
    slots[slot] = i + 1;
  }
  table = at;
}

static long find(const char *name, uint32_t length) {
  uint32_t slot = hash_of(name, length) & slot_mask;
  for (; slots[slot] != 0; slot = (slot + 1) & slot_mask) {
    uint32_t i = slots[slot] - 1;
    if (lengths[i] == length && memcmp(names[i], name, length) == 0) return i;
  }
  return -1;
}

static void hang_up(int fd) {
  close(fd);
  connections[fd]->archive = -1;
}

static void send_answer(int fd, uint32_t answer) {
  uint32_t length = *(const uint32_t *)(plan + answer), sent = 0;
  while (sent < length) {
    ssize_t bytes = send(fd, plan + answer + 4 + sent, length - sent, MSG_NOSIGNAL);
    if (bytes > 0) sent += (uint32_t)bytes;
    else if (bytes < 0 && errno == EAGAIN) usleep(100); /* longer than its buffer: hardly ever */
    else return;
  }
}

/* Answers "GET /timemap/ORIGINAL HTTP/1.1". */
static void take_request(int fd, const char *line, const char *end) {
  requests++;
  const char *path = memchr(line, '/', (size_t)(end - line));
  const char *start = path == NULL ? NULL : memchr(path + 1, '/', (size_t)(end - path - 1));
  const char *stop = memrchr(line, ' ', (size_t)(end - line));
  if (start == NULL || stop <= start || plan == NULL) return;
  long original = find(start + 1, (uint32_t)(stop - start - 1));
  const uint32_t *known = table + 2 * (connections[fd]->archive * (long)original_count + original);
  const uint32_t *entry = original < 0 ? unknown : known;
  if (entry[1] == 0) return;
  if (entry[0] == 0) {
    send_answer(fd, entry[1]);
    return;
  }
  Pending *later = spare;
  if (later == NULL) later = malloc(sizeof *later);
  else spare = later->next;
  *later = (Pending){NULL, fd, connections[fd]->life, entry[1]};
  Pending **bucket = &wheel[(now_ms() + entry[0]) & (WHEEL - 1)];
  later->next = *bucket;
  *bucket = later;
  pending++;
}

static void converse(int fd) {
  Connection *c = connections[fd];
  ssize_t bytes = read(fd, c->head + c->used, HEAD_BYTES - c->used);
  if (bytes <= 0) {
    if (bytes == 0 || errno != EAGAIN) hang_up(fd);
    return;
  }
  c->used += (uint32_t)bytes;
  char *from = c->head, *all = c->head + c->used, *end;
  while ((end = memmem(from, (size_t)(all - from), "\r\n\r\n", 4)) != NULL) {
    take_request(fd, from, memchr(from, '\r', (size_t)(end + 1 - from)));
    from = end + 4;
  }
  c->used = (uint32_t)(all - from);
  if (c->used == HEAD_BYTES) hang_up(fd);
  else memmove(c->head, from, c->used);
}

static void welcome(int archive) {
  int one = 1, fd;
  while ((fd = accept4(listeners[archive], NULL, NULL, SOCK_NONBLOCK)) >= 0) {
    if (fd >= MAX_FILES) {
      close(fd);
      continue;
    }
    if (connections[fd] == NULL) connections[fd] = calloc(1, sizeof **connections);
    opened++;
    connections[fd]->archive = archive;
    connections[fd]->life++;
    connections[fd]->used = 0;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    epoll_ctl(poll_fd, EPOLL_CTL_ADD, fd, &event);
  }
}

/* Sends what is due; returns for how long nothing is. */
static int turn_wheel(void) {
  long now = now_ms();
  for (; turned <= now && pending > 0; turned++) {
    Pending **bucket = &wheel[turned & (WHEEL - 1)];
    while (*bucket != NULL) {
      Pending *due = *bucket;
      *bucket = due->next;
      pending--;
      Connection *c = connections[due->fd];
      if (c->archive >= 0 && c->life == due->life) send_answer(due->fd, due->answer);
      due->next = spare;
      spare = due;
    }
  }
  if (pending == 0) {
    turned = now;
    return -1;
  }
  long next = turned;
  while (wheel[next & (WHEEL - 1)] == NULL) next++;
  return (int)(next - now);
}

static void listen_all(void) {
  for (int i = 0; i < archives; i++) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int fd = listeners[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (void *)&address, size) != 0 || listen(fd, 4096) != 0) die("listen");
    getsockname(fd, (void *)&address, &size);
    printf("%d%c", ntohs(address.sin_port), i + 1 < archives ? ' ' : '\n');
    struct epoll_event event = {.events = EPOLLIN, .data.fd = -1 - i};
    epoll_ctl(poll_fd, EPOLL_CTL_ADD, fd, &event);
  }
  fflush(stdout);
}

static void take_command(void) {
  char line[4096];
  ssize_t bytes = read(0, line, sizeof line - 1);
  if (bytes <= 0) exit(0);
  line[bytes] = '\0';
  line[strcspn(line, "\n")] = '\0';
  if (strcmp(line, "count") == 0) {
    printf("%lu %lu\n", requests, opened);
    requests = opened = 0;
  } else {
    read_plan(line);
    printf("ready\n");
  }
  fflush(stdout);
}

int main(int count, char **arguments) {
  archives = count == 2 ? atoi(arguments[1]) : 0;
  if (archives < 1 || archives > MAX_ARCHIVES) {
    fprintf(stderr, "usage: fleet COUNT\n");
    return 2;
  }
  struct rlimit files = {0};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  poll_fd = epoll_create1(0);
  listen_all();
  struct epoll_event input = {.events = EPOLLIN, .data.fd = 0};
  epoll_ctl(poll_fd, EPOLL_CTL_ADD, 0, &input);
  turned = now_ms();
  struct epoll_event events[256];
  for (int wait = -1;; wait = turn_wheel()) {
    int ready = epoll_wait(poll_fd, events, 256, wait);
    for (int i = 0; i < ready; i++) {
      int fd = events[i].data.fd;
      if (fd < 0) welcome(-1 - fd);
      else if (fd == 0) take_command();
      else converse(fd);
    }
  }
}
