/* SPDX-License-Identifier: MIT */
/* QEMU without a guest: the process and its two sockets. See qtest.h. */
#include "qtest.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ktap.h"

#define ARGS_MAX 128
#define EVENTS_MAX 64
#define LINE_START 4096
/* Bytes in one command of the protocol: QEMU looks for the end of a line from its start whenever
 * some of it has come. */
#define CHUNK 8192

/* One socket, read line by line. */
struct lines {
	int fd;
	char *buf;    /* what has been read */
	size_t size;  /* of buf */
	size_t used;  /* bytes in buf */
	size_t taken; /* of which belong to lines already returned */
};

struct qtest {
	pid_t pid;
	struct lines qt; /* qtest protocol */
	struct lines qmp;
	char *events[EVENTS_MAX]; /* events nobody has waited for yet, oldest first */
	unsigned int num_events;
	char *event; /* the one last returned */
};

/* The program cannot go on: QEMU is gone or does not answer. */
__attribute__((format(printf, 2, 3), noreturn)) static void bail(struct qtest *q, const char *fmt,
								 ...)
{
	char text[300];
	va_list ap;
	int status;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (waitpid(q->pid, &status, WNOHANG) != q->pid) {
		kill(q->pid, SIGKILL);
		waitpid(q->pid, &status, 0);
	} else if (WIFSIGNALED(status)) {
		ktap_note("QEMU died of signal %d", WTERMSIG(status));
	} else {
		ktap_note("QEMU exited with status %d", WEXITSTATUS(status));
	}
	printf("Bail out! %s\n", text);
	exit(1);
}

static void lines_open(struct lines *l, int fd)
{
	l->fd = fd;
	l->size = LINE_START;
	l->buf = malloc(l->size);
	l->used = 0;
	l->taken = 0;
}

static void lines_close(struct lines *l)
{
	close(l->fd);
	free(l->buf);
}

/* The next line, without its end; valid until the next call. */
static char *lines_get(struct qtest *q, struct lines *l)
{
	for (;;) {
		char *start = l->buf + l->taken;
		char *end = memchr(start, '\n', l->used - l->taken);
		struct pollfd pfd = { .fd = l->fd, .events = POLLIN };
		ssize_t n;

		if (end) {
			*end = '\0';
			if (end > start && end[-1] == '\r')
				end[-1] = '\0';
			l->taken = end + 1 - l->buf;
			return start;
		}
		memmove(l->buf, start, l->used - l->taken);
		l->used -= l->taken;
		l->taken = 0;
		if (l->used == l->size) {
			l->size *= 2;
			l->buf = realloc(l->buf, l->size);
		}
		if (poll(&pfd, 1, QTEST_TIMEOUT_MS) <= 0)
			bail(q, "no answer from QEMU for %d ms", QTEST_TIMEOUT_MS);
		n = read(l->fd, l->buf + l->used, l->size - l->used);
		if (n <= 0)
			bail(q, "QEMU has closed its socket");
		l->used += n;
	}
}

static void send_all(struct qtest *q, int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t n = send(fd, data, size, MSG_NOSIGNAL);

		if (n < 0)
			bail(q, "cannot write to QEMU: %s", strerror(errno));
		data += n;
		size -= n;
	}
}

/* Split @text at blanks into @argv, which has room for ARGS_MAX. */
static unsigned int split(char *text, char **argv, unsigned int argc)
{
	char *save = NULL, *word;

	for (word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		if (argc < ARGS_MAX - 1)
			argv[argc++] = word;
	}
	argv[argc] = NULL;
	return argc;
}

/* In the child: become QEMU. */
__attribute__((noreturn)) static void exec_qemu(char *args, int qt, int qmp)
{
	char common[300], *argv[ARGS_MAX], *qemu = getenv("TSR_QEMU"),
					   *share = getenv("TSR_QEMU_SHARE");
	unsigned int argc = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	argv[argc++] = qemu;
	if (share) {
		argv[argc++] = "-L";
		argv[argc++] = share;
	}
	snprintf(common, sizeof(common),
		 "-nodefaults -no-user-config -display none -m 128 -machine q35 "
		 "-chardev socket,id=qtest,fd=%d -qtest chardev:qtest -qtest-log none "
		 "-chardev socket,id=qmp,fd=%d -mon chardev=qmp,mode=control",
		 qt, qmp);
	argc = split(common, argv, argc);
	split(args, argv, argc);
	execv(qemu, argv);
	fprintf(stderr, "cannot run %s: %s\n", qemu, strerror(errno));
	_exit(127);
}

/* Start QEMU; its stderr goes to @err unless that is negative. */
static struct qtest *start(char *args, int err)
{
	struct qtest *q = calloc(1, sizeof(*q));
	char full[4096];
	int qt[2], qmp[2];

	if (!getenv("TSR_QEMU")) {
		printf("Bail out! TSR_QEMU does not name a QEMU binary\n");
		exit(1);
	}
	snprintf(full, sizeof(full), "%s%s", args, strstr(args, "-accel") ? "" : " -accel qtest");
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, qt) || socketpair(AF_UNIX, SOCK_STREAM, 0, qmp)) {
		printf("Bail out! socketpair: %s\n", strerror(errno));
		exit(1);
	}
	fflush(stdout);
	q->pid = fork();
	if (!q->pid) {
		close(qt[0]);
		close(qmp[0]);
		if (err >= 0)
			dup2(err, STDERR_FILENO);
		exec_qemu(full, qt[1], qmp[1]);
	}
	close(qt[1]);
	close(qmp[1]);
	lines_open(&q->qt, qt[0]);
	lines_open(&q->qmp, qmp[0]);
	return q;
}

static void release(struct qtest *q)
{
	unsigned int i;

	for (i = 0; i < q->num_events; i++)
		free(q->events[i]);
	free(q->event);
	lines_close(&q->qt);
	lines_close(&q->qmp);
	free(q);
}

struct qtest *qtest_start(const char *args, ...)
{
	struct qtest *q;
	char text[2048];
	va_list ap;

	va_start(ap, args);
	vsnprintf(text, sizeof(text), args, ap);
	va_end(ap);
	q = start(text, -1);
	lines_get(q, &q->qmp); /* the greeting */
	qtest_cmd(q, "{\"execute\":\"qmp_capabilities\"}");
	return q;
}

int qtest_start_refused(char *text, size_t size, const char *args, ...)
{
	struct qtest *q;
	char line[2048];
	int err[2], status;
	size_t used = 0;
	ssize_t n;
	va_list ap;

	va_start(ap, args);
	vsnprintf(line, sizeof(line), args, ap);
	va_end(ap);
	if (pipe(err)) {
		printf("Bail out! pipe: %s\n", strerror(errno));
		exit(1);
	}
	q = start(line, err[1]);
	close(err[1]);
	/* Nobody talks to it: when it starts after all, the closed sockets make no difference, the
	 * signal does. */
	for (;;) {
		struct pollfd pfd = { .fd = err[0], .events = POLLIN };

		if (poll(&pfd, 1, QTEST_TIMEOUT_MS) <= 0) {
			kill(q->pid, SIGKILL);
			break;
		}
		n = read(err[0], text + used, size - 1 - used);
		if (n <= 0)
			break;
		used += n;
	}
	text[used] = '\0';
	close(err[0]);
	waitpid(q->pid, &status, 0);
	release(q);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void qtest_stop(struct qtest *q)
{
	int status, left = QTEST_TIMEOUT_MS;
	pid_t pid;

	qtest_cmd(q, "{\"execute\":\"quit\"}");
	while (!(pid = waitpid(q->pid, &status, WNOHANG))) {
		if (!qtest_patience(&left))
			bail(q, "QEMU does not quit");
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		ktap_fail("QEMU ended with wait status 0x%x", status);
	release(q);
}

unsigned int qtest_threads(struct qtest *q)
{
	unsigned int n = 0;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)q->pid);
	dir = opendir(path);
	if (!dir)
		bail(q, "cannot read %s", path);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2; /* . and .. */
}

double qtest_processor_ms(struct qtest *q)
{
	struct timespec used;
	clockid_t clock;

	if (clock_getcpuclockid(q->pid, &clock) || clock_gettime(clock, &used))
		bail(q, "no processor time of process %d", (int)q->pid);
	return used.tv_sec * 1e3 + used.tv_nsec / 1e6;
}

unsigned int qtest_resident_mib(struct qtest *q)
{
	unsigned int total, pages;
	char path[64];
	FILE *file;
	bool read;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)q->pid);
	file = fopen(path, "r");
	read = file && fscanf(file, "%u %u", &total, &pages) == 2;
	if (file)
		fclose(file);
	if (!read)
		bail(q, "cannot read %s", path);
	return (unsigned int)((uint64_t)pages * (unsigned int)sysconf(_SC_PAGESIZE) >> 20);
}

uint64_t qtest_main_written(struct qtest *q)
{
	uint64_t bytes = 0;
	char path[64], line[100];
	bool read = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/io", (int)q->pid, (int)q->pid);
	file = fopen(path, "r");
	while (file && !read && fgets(line, sizeof(line), file))
		read = sscanf(line, "wchar: %" SCNu64, &bytes) == 1;
	if (file)
		fclose(file);
	if (!read)
		bail(q, "cannot read %s", path);
	return bytes;
}

/* Send a line, return the answer behind "OK". */
__attribute__((format(printf, 2, 3))) static char *talk(struct qtest *q, const char *fmt, ...)
{
	char text[200], *line;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text) - 1, fmt, ap);
	va_end(ap);
	text[n++] = '\n';
	send_all(q, q->qt.fd, text, n);
	do {
		line = lines_get(q, &q->qt);
	} while (!strncmp(line, "IRQ ", 4));
	if (strncmp(line, "OK", 2))
		bail(q, "QEMU refused '%.*s': %s", n - 1, text, line);
	return line[2] ? line + 3 : line + 2;
}

static char width_letter(unsigned int bytes)
{
	return bytes == 1 ? 'b' : bytes == 2 ? 'w' : bytes == 4 ? 'l' : 'q';
}

uint64_t qtest_read_width(struct qtest *q, uint64_t addr, unsigned int bytes)
{
	return strtoull(talk(q, "read%c 0x%" PRIx64, width_letter(bytes), addr), NULL, 0);
}

void qtest_write_width(struct qtest *q, uint64_t addr, uint64_t value, unsigned int bytes)
{
	talk(q, "write%c 0x%" PRIx64 " 0x%" PRIx64, width_letter(bytes), addr, value);
}

uint32_t qtest_readl(struct qtest *q, uint64_t addr)
{
	return qtest_read_width(q, addr, 4);
}

uint64_t qtest_readq(struct qtest *q, uint64_t addr)
{
	return qtest_read_width(q, addr, 8);
}

void qtest_writel(struct qtest *q, uint64_t addr, uint32_t value)
{
	qtest_write_width(q, addr, value, 4);
}

void qtest_writeq(struct qtest *q, uint64_t addr, uint64_t value)
{
	qtest_write_width(q, addr, value, 8);
}

static unsigned int nibble(char c)
{
	return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

static void read_chunk(struct qtest *q, uint64_t addr, unsigned char *data, size_t size)
{
	const char *hex = talk(q, "read 0x%" PRIx64 " 0x%zx", addr, size) + 2;
	size_t i;

	for (i = 0; i < size; i++)
		data[i] = nibble(hex[2 * i]) << 4 | nibble(hex[2 * i + 1]);
}

static void write_chunk(struct qtest *q, uint64_t addr, const unsigned char *data, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	char text[2 * CHUNK + 80], *p = text;
	size_t i;

	p += sprintf(p, "write 0x%" PRIx64 " 0x%zx 0x", addr, size);
	for (i = 0; i < size; i++) {
		*p++ = digits[data[i] >> 4];
		*p++ = digits[data[i] & 15];
	}
	*p++ = '\n';
	send_all(q, q->qt.fd, text, p - text);
	if (strncmp(lines_get(q, &q->qt), "OK", 2))
		bail(q, "QEMU refused to write %zu bytes to 0x%" PRIx64, size, addr);
}

void qtest_read(struct qtest *q, uint64_t addr, void *data, size_t size)
{
	size_t at;

	for (at = 0; at < size; at += CHUNK)
		read_chunk(q, addr + at, (unsigned char *)data + at,
			   size - at < CHUNK ? size - at : CHUNK);
}

void qtest_write(struct qtest *q, uint64_t addr, const void *data, size_t size)
{
	size_t at;

	for (at = 0; at < size; at += CHUNK)
		write_chunk(q, addr + at, (const unsigned char *)data + at,
			    size - at < CHUNK ? size - at : CHUNK);
}

void qtest_memset(struct qtest *q, uint64_t addr, uint8_t value, size_t size)
{
	talk(q, "memset 0x%" PRIx64 " 0x%zx 0x%x", addr, size, value);
}

uint32_t qtest_in(struct qtest *q, uint16_t port, unsigned int bytes)
{
	return strtoul(talk(q, "in%c 0x%x", width_letter(bytes), port), NULL, 0);
}

void qtest_out(struct qtest *q, uint16_t port, uint32_t value, unsigned int bytes)
{
	talk(q, "out%c 0x%x 0x%x", width_letter(bytes), port, value);
}

uint64_t qtest_clock_step(struct qtest *q, uint64_t ns)
{
	return strtoull(talk(q, "clock_step %" PRIu64, ns), NULL, 0);
}

static void keep_event(struct qtest *q, const char *line)
{
	if (q->num_events == EVENTS_MAX) {
		free(q->events[0]);
		memmove(q->events, q->events + 1, (EVENTS_MAX - 1) * sizeof(q->events[0]));
		q->num_events--;
	}
	q->events[q->num_events++] = strdup(line);
}

static bool is_event(const char *line)
{
	return strstr(line, "\"event\": \"") && !strstr(line, "\"return\": ");
}

static const char *qmp_send(struct qtest *q, const char *text)
{
	const char *line;

	send_all(q, q->qmp.fd, text, strlen(text));
	for (;;) {
		line = lines_get(q, &q->qmp);
		if (!is_event(line))
			return line;
		keep_event(q, line);
	}
}

const char *qtest_qmp(struct qtest *q, const char *fmt, ...)
{
	char text[2048];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return qmp_send(q, text);
}

bool qtest_ok(const char *answer)
{
	return !strncmp(answer, "{\"return\": ", 11);
}

const char *qtest_cmd(struct qtest *q, const char *fmt, ...)
{
	const char *answer;
	char text[2048];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	answer = qmp_send(q, text);
	if (!qtest_ok(answer))
		ktap_fail("%s: %s", text, answer);
	return answer;
}

const char *qtest_hmp(struct qtest *q, const char *fmt, ...)
{
	char text[512], full[700];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(full, sizeof(full),
		 "{\"execute\":\"human-monitor-command\","
		 "\"arguments\":{\"command-line\":\"%s\"}}",
		 text);
	return qmp_send(q, full);
}

const char *qtest_event(struct qtest *q, const char *name)
{
	char pattern[100];
	unsigned int i;

	snprintf(pattern, sizeof(pattern), "\"event\": \"%s\"", name);
	free(q->event);
	for (i = 0; i < q->num_events; i++) {
		if (!strstr(q->events[i], pattern))
			continue;
		q->event = q->events[i];
		memmove(q->events + i, q->events + i + 1,
			(q->num_events - i - 1) * sizeof(q->events[0]));
		q->num_events--;
		return q->event;
	}
	do {
		q->event = strdup(lines_get(q, &q->qmp));
		if (strstr(q->event, pattern))
			return q->event;
		keep_event(q, q->event);
		free(q->event);
	} while (true);
}

bool qtest_patience(int *left)
{
	struct timespec ms = { .tv_nsec = 1000000 };

	nanosleep(&ms, NULL);
	return --*left > 0;
}
