/* SPDX-License-Identifier: MIT */
/*
 * Names of files as the program knows them, and the folder that stands for /dev/dri, /sys/class/drm
 * and /sys/dev/char/226:*.
 */
#ifndef TSR_HOST_PATHS_H
#define TSR_HOST_PATHS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define DRM_MAJOR	226
#define CARD_MINOR	0
#define RENDER_MINOR	128

/* path_init(): find the folder; false if there is none. */
bool path_init(void);
/* path_redirect(): the path to use instead of @path: itself, or in @room (PATH_MAX bytes). */
const char *path_redirect(const char *path, char *room);
/*
 * path_retry(): after a call for @path in directory @dir has failed with ENOENT: another path to
 * try, in @room, or NULL. It finds nodes by names that only lead to one of our folders, such as
 * relative ones and symbolic links. @follow: a link at the end of the path is followed.
 */
const char *path_retry(int dir, const char *path, bool follow, char *room);
/* path_shown(): a path of libc's that leads into our folder becomes what stands for it. */
void path_shown(char *path);
/* path_device(): the number in /proc/self/fd/N and its like if it is a device's, else -1. */
int path_device(const char *path);
/* path_of_node(): the file that stands for the node with this minor, in @room. */
const char *path_of_node(int minor, char *room);
/* node_name(): the node as the program knows it. */
const char *node_name(int minor);
/* node_minor(): the minor of the node that a file stands for; -1 if it does for none. */
int node_minor(dev_t dev, ino_t ino);
/* fd_minor(): the minor of the device that a descriptor stands for, or -1. */
int fd_minor(int fd);

#endif
