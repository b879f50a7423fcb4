/* SPDX-License-Identifier: MIT */
/* The second process: edits the picture in the buffer it is given. */
#ifndef EDITOR_H
#define EDITOR_H

/*
 * editor_main(): receive the buffer and the timeline over @socket, submit the edit on the device
 * @path, say so, wait until it is done, say so. Returns the process's exit status; all errors go
 * over the socket.
 */
int editor_main(int socket, const char *path);

#endif /* EDITOR_H */
