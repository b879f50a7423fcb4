// SPDX-License-Identifier: MIT
/* Messages with file descriptors over a SOCK_SEQPACKET socket pair. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "wire.h"

/* Control data for the file descriptors, aligned as the kernel wants it. */
union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(WIRE_FILES * sizeof(int))];
};

int wire_send(int socket, const struct wire_message *message, const int *files, unsigned int count)
{
	struct iovec data = { (void *)message, sizeof(*message) };
	struct msghdr header = { .msg_iov = &data, .msg_iovlen = 1 };
	union control control = { 0 };
	ssize_t sent;

	if (count) {
		header.msg_control = &control;
		header.msg_controllen = CMSG_SPACE(count * sizeof(int));
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(&control.header), files, count * sizeof(int));
	}
	do {
		sent = sendmsg(socket, &header, MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	return sent < 0 ? -1 : 0;
}

/* Take the file descriptors out of a message; close them all unless they are @count. */
static int take_files(struct msghdr *header, int *files, unsigned int count)
{
	struct cmsghdr *control = CMSG_FIRSTHDR(header);
	unsigned int got = 0, i;
	int received[WIRE_FILES];

	if (control && control->cmsg_type == SCM_RIGHTS) {
		got = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(received, CMSG_DATA(control), got * sizeof(int));
	}
	if (got != count) {
		for (i = 0; i < got; i++)
			close(received[i]);
		errno = EPROTO;
		return -1;
	}
	if (count)
		memcpy(files, received, count * sizeof(int));
	return 0;
}

int wire_receive(int socket, struct wire_message *message, int *files, unsigned int count)
{
	struct iovec data = { message, sizeof(*message) };
	union control control;
	struct msghdr header = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	ssize_t got;

	do {
		got = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return -1;
	if (got != sizeof(*message)) {
		errno = got ? EPROTO : 0;
		return -1;
	}
	message->text[sizeof(message->text) - 1] = '\0';
	/* a side that fails has no files to send */
	return take_files(&header, files, message->status ? 0 : count);
}
