/* SPDX-License-Identifier: MIT */
/* Messages of the two processes over their socket. */
#ifndef WIRE_H
#define WIRE_H

#include <stdint.h>

#define WIRE_FILES 2

/* From the first process: here is the picture, edit it. Files: the dma-buf, the timeline. */
/* From the second: how far it has come. */
struct wire_message {
	int32_t status;			/* 0, or -1: then text says why */
	uint32_t width, height, texel;	/* of the picture; from the first process only */
	char text[256];
};

/* wire_send(): one message with @count file descriptors, which stay the caller's. 0 or -1 (errno).
 */
int wire_send(int socket, const struct wire_message *message, const int *files, unsigned int count);

/*
 * wire_receive(): the next message, which has to bring @count file descriptors; they are the
 * caller's. -1 if the other side is gone (errno 0), or errno.
 */
int wire_receive(int socket, struct wire_message *message, int *files, unsigned int count);

#endif /* WIRE_H */
