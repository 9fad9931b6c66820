/*
 * Asks a server over and over: a number of clients, each with a connection that is kept, each sending
 * its next request when it has the answer to the last. In C, because what it costs is taken from what
 * is measured on the same cores.
 *
 *     load PORT CLIENTS SECONDS RAMP_MS SKIP FIRST FILE
 *
 * FILE has a target in each line, a tab and the number of mementos to expect. The clients begin within
 * RAMP_MS, with line SKIP of the first FIRST (0 for all), and ask for SECONDS, again from the start at
 * the end of the lines; with 0 seconds, once through them. Prints what came of it as JSON.
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
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define READ_BYTES (256 * 1024)
#define CHUNKED (-2L)
#define LAST_CHUNK "0\r\n\r\n"

typedef struct {
  const char *target;
  uint32_t length;
  long expected;
} Lookup;

typedef struct {
  int fd;
  int is_open, is_asking, is_connecting, is_last;
  double sent_at;
  const Lookup *asked;
  long count, body_left; /* -1 before the head has come */
  int status;
  char *head;
  size_t head_length, head_room;
  char tail[5];
} Client;

static Lookup *lookups;
static size_t lookup_count, taken;
static Client *clients;
static int client_count, clients_left, poll_fd, port;
static double begun, deadline;
static double *latencies;
static size_t answers, room;
static unsigned long statuses[1000], failures, resets, closes, others;
static long mementos, missed_mementos, missed_lookups;
static char buffer[READ_BYTES];

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double cpu_seconds(void) {
  struct rusage use;
  getrusage(RUSAGE_SELF, &use);
  return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
         (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
}

static void read_lookups(const char *path, size_t first) {
  FILE *file = fopen(path, "r");
  struct stat info;
  if (file == NULL || fstat(fileno(file), &info) != 0) {
    perror(path);
    exit(1);
  }
  char *text = malloc((size_t)info.st_size + 1);
  size_t size = fread(text, 1, (size_t)info.st_size, file);
  fclose(file);
  text[size] = '\0';
  size_t lines = 0;
  for (size_t i = 0; i < size; i++) lines += text[i] == '\n';
  lookups = calloc(lines, sizeof *lookups);
  for (char *line = text; *line != '\0' && (first == 0 || lookup_count < first);) {
    char *end = strchr(line, '\n'), *tab = memchr(line, '\t', (size_t)(end - line));
    lookups[lookup_count++] = (Lookup){line, (uint32_t)(tab - line), atol(tab + 1)};
    line = end + 1;
  }
}

static void watch(Client *c, int how, uint32_t events) {
  struct epoll_event event = {.events = events, .data.ptr = c};
  epoll_ctl(poll_fd, how, c->fd, &event);
}

static void open_connection(Client *c) {
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int one = 1;
  c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (c->fd < 0) {
    perror("socket");
    exit(1);
  }
  setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  c->is_open = 1;
  c->is_connecting = connect(c->fd, (void *)&address, sizeof address) != 0;
  watch(c, EPOLL_CTL_ADD, c->is_connecting ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

static void shut(Client *c) {
  if (c->is_open) close(c->fd);
  c->is_open = 0;
}

static void send_request(Client *c) {
  static char request[70 * 1024];
  int length = snprintf(request, sizeof request, "GET %.*s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n",
                        (int)c->asked->length, c->asked->target, port);
  if (send(c->fd, request, (size_t)length, MSG_NOSIGNAL) != length) {
    shutdown(c->fd, SHUT_RDWR); /* it ends as a connection that failed */
  }
}

/* A client that is connecting sends its request when it is connected. */
static void ask_next(Client *c) {
  double now = now_ms();
  if ((deadline == 0 && taken >= lookup_count) || (deadline > 0 && now >= deadline)) {
    shut(c);
    clients_left--;
    return;
  }
  if (!c->is_open) open_connection(c);
  c->asked = &lookups[taken++ % lookup_count];
  c->is_asking = 1;
  c->is_last = 0;
  c->body_left = -1;
  c->head_length = 0;
  c->count = 0;
  c->sent_at = now;
  if (!c->is_connecting) send_request(c);
}

static void fail(Client *c, int error) {
  shut(c);
  if (!c->is_asking) return;
  failures++;
  if (error == ECONNRESET) resets++;
  else if (error == 0) closes++;
  else others++;
  c->is_asking = 0;
  ask_next(c);
}

static const char *field(const Client *c, const char *name) {
  const char *found = strcasestr(c->head, name);
  if (found == NULL) return NULL;
  found += strlen(name);
  while (*found == ' ') found++;
  return found;
}

static void read_head(Client *c) {
  c->status = atoi(c->head + 9);
  const char *length = field(c, "\r\ncontent-length:"), *count = field(c, "\r\nx-memento-count:");
  const char *connection = field(c, "\r\nconnection:");
  c->body_left = length == NULL ? CHUNKED : atol(length);
  c->count = count == NULL ? 0 : atol(count);
  c->is_last = connection != NULL && strncasecmp(connection, "close", 5) == 0;
  memset(c->tail, 0, sizeof c->tail);
}

/* Whether the answer is whole. */
static int take_body(Client *c, const char *bytes, size_t length) {
  if (c->body_left != CHUNKED) {
    c->body_left -= (long)length;
    return c->body_left <= 0;
  }
  /* Nothing is asked before the answer is here, so that nothing can follow the last chunk. */
  size_t kept = sizeof c->tail;
  if (length >= kept) {
    memcpy(c->tail, bytes + length - kept, kept);
  } else {
    memmove(c->tail, c->tail + length, kept - length);
    memcpy(c->tail + kept - length, bytes, length);
  }
  return memcmp(c->tail, LAST_CHUNK, kept) == 0;
}

static int take_bytes(Client *c, const char *bytes, size_t length) {
  if (c->body_left != -1) return take_body(c, bytes, length);
  if (c->head_length + length + 1 > c->head_room) {
    c->head_room = c->head_length + length + 4096;
    c->head = realloc(c->head, c->head_room);
  }
  memcpy(c->head + c->head_length, bytes, length);
  c->head_length += length;
  c->head[c->head_length] = '\0';
  char *end = memmem(c->head, c->head_length, "\r\n\r\n", 4);
  if (end == NULL) return 0;
  size_t head = (size_t)(end + 4 - c->head), rest = c->head_length - head;
  *end = '\0';
  read_head(c);
  return take_body(c, c->head + head, rest);
}

static void note_answer(Client *c) {
  if (answers == room) latencies = realloc(latencies, (room = room * 2 + 65536) * sizeof *latencies);
  latencies[answers++] = now_ms() - c->sent_at;
  statuses[c->status >= 0 && c->status < 1000 ? c->status : 0]++;
  mementos += c->count;
  if (c->asked->expected > c->count) {
    missed_mementos += c->asked->expected - c->count;
    missed_lookups++;
  }
  c->is_asking = 0;
  if (c->is_last) shut(c);
}

static void take(Client *c, uint32_t events) {
  if (!c->is_open) return;
  if (c->is_connecting) {
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) {
      fail(c, error);
      return;
    }
    c->is_connecting = 0;
    watch(c, EPOLL_CTL_MOD, EPOLLIN);
    send_request(c);
    if ((events & EPOLLIN) == 0) return;
  }
  ssize_t bytes = read(c->fd, buffer, READ_BYTES);
  if (bytes > 0) {
    if (c->is_asking && take_bytes(c, buffer, (size_t)bytes)) {
      note_answer(c);
      ask_next(c);
    }
  } else if (bytes == 0 || errno != EAGAIN) {
    fail(c, bytes == 0 ? 0 : errno);
  }
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double percentile(double share) {
  if (answers == 0) return 0;
  size_t at = (size_t)(share * (double)answers);
  return latencies[at < answers ? at : answers - 1];
}

static void print_count(const char *name, unsigned long count, int *is_first) {
  if (count == 0) return;
  printf("%s\"%s\":%lu", *is_first ? "" : ",", name, count);
  *is_first = 0;
}

static void report(double cpu) {
  double seconds = (now_ms() - begun) / 1e3;
  qsort(latencies, answers, sizeof *latencies, compare);
  printf("{\"requests\":%zu,\"seconds\":%.6f,\"perSecond\":%.3f,\"cpuSeconds\":%.6f,", answers, seconds,
         (double)answers / seconds, cpu);
  int is_first = 1;
  printf("\"statuses\":{");
  for (int i = 0; i < 1000; i++) {
    char name[8];
    snprintf(name, sizeof name, "%d", i);
    print_count(name, statuses[i], &is_first);
  }
  is_first = 1;
  printf("},\"failures\":%lu,\"failureReasons\":{", failures);
  print_count("ECONNRESET", resets, &is_first);
  print_count("closed", closes, &is_first);
  print_count("other", others, &is_first);
  printf("},\"mementos\":%ld,\"missedMementos\":%ld,\"missedLookups\":%ld,", mementos, missed_mementos,
         missed_lookups);
  printf("\"p50\":%.3f,\"p90\":%.3f,\"p99\":%.3f,\"max\":%.3f}\n", percentile(0.5), percentile(0.9),
         percentile(0.99), percentile(1));
}

int main(int count, char **arguments) {
  if (count != 8) {
    fprintf(stderr, "usage: load PORT CLIENTS SECONDS RAMP_MS SKIP FIRST FILE\n");
    return 2;
  }
  port = atoi(arguments[1]);
  client_count = clients_left = atoi(arguments[2]);
  double seconds = atof(arguments[3]), ramp = atof(arguments[4]);
  taken = (size_t)atol(arguments[5]);
  read_lookups(arguments[7], (size_t)atol(arguments[6]));
  struct rlimit files = {0};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  poll_fd = epoll_create1(0);
  clients = calloc((size_t)client_count, sizeof *clients);
  begun = now_ms();
  deadline = seconds == 0 ? 0 : begun + seconds * 1e3;
  double cpu = cpu_seconds();
  int started = 0;
  struct epoll_event events[256];
  while (clients_left > 0) {
    double elapsed = now_ms() - begun;
    while (started < client_count && elapsed >= started * ramp / client_count) {
      ask_next(&clients[started++]);
    }
    int ready = epoll_wait(poll_fd, events, 256, started < client_count ? 1 : 1000);
    for (int i = 0; i < ready; i++) take(events[i].data.ptr, events[i].events);
  }
  report(cpu_seconds() - cpu);
  return 0;
}
