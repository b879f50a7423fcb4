// SPDX-License-Identifier: MIT
/* A device of any driver as an administrator handles it, by sysfs. */
#include "contract.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xf86drm.h>

static char device[PATH_MAX];		/* its directory in sysfs, or "" */
static char driver_dir[PATH_MAX];	/* that of its driver on the bus */

int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

int read_file(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t got;

	text[0] = 0;
	if (fd < 0)
		return -errno;
	while (used + 1 < size && (got = read(fd, text + used, size - 1 - used)) > 0)
		used += got;
	text[used] = 0;
	close(fd);
	return used;
}

/* The directory of the device that has @node, or "" if it is on no PCI bus. */
static void device_of(const char *node, char *found)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/sys/class/drm/%s/device", strrchr(node, '/') ?
		 strrchr(node, '/') + 1 : node);
	if (!realpath(path, found) || !strstr(found, "/pci"))
		found[0] = 0;
}

void system_find(const char *node)
{
	char path[PATH_MAX];

	driver_dir[0] = 0;
	device_of(node, device);
	if (!device[0])
		return;
	snprintf(path, sizeof(path), "%.4000s/driver", device);
	if (!realpath(path, driver_dir))
		driver_dir[0] = 0;
}

/* Render nodes appear a moment after the device. */
bool system_node(const char *driver, char *node, size_t size)
{
	char path[PATH_MAX];

	for (unsigned int minor = 128; minor < 192; minor++) {
		drmVersionPtr version;
		bool found;
		int fd;

		snprintf(node, size, "/dev/dri/renderD%u", minor);
		fd = open(node, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		version = drmGetVersion(fd);
		found = version && !strcmp(version->name, driver);
		drmFreeVersion(version);
		close(fd);
		if (found && *device) {
			device_of(node, path);
			found = !strcmp(path, device);
		}
		if (found)
			return true;
	}
	return false;
}

static int device_write(const char *leaf)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%.4000s/%s", device, leaf);
	return write_file(path, "1");
}

static int driver_write(const char *leaf)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%.4000s/%s", driver_dir, leaf);
	return write_file(path, strrchr(device, '/') + 1);
}

int system_act(const char *verb)
{
	if (!device[0] || !driver_dir[0])
		return -EOPNOTSUPP;
	if (!strcmp(verb, "@unbind"))
		return driver_write("unbind");
	if (!strcmp(verb, "@remove"))
		return device_write("remove");
	if (!strcmp(verb, "@pci-reset"))
		return device_write("reset");
	return -EOPNOTSUPP;
}

bool system_masters_bus(void)
{
	enum { COMMAND = 4, COMMAND_MASTER = 4 };	/* of the configuration space */
	char path[PATH_MAX];
	uint16_t command = 0;
	int fd;

	snprintf(path, sizeof(path), "%.4000s/config", device);
	fd = device[0] ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0 || pread(fd, &command, 2, COMMAND) != 2)
		command = 0;
	close(fd);
	return command & COMMAND_MASTER;
}

const char *system_recover(const char *event, const char *script, bool (*works)(void))
{
	if (!strcmp(script, "@remove"))
		return !write_file("/sys/bus/pci/rescan", "1") && works() ? "rescan" : "fails";
	if (!strcmp(script, "@unbind"))
		return !driver_write("bind") && works() ? "bind" : "fails";
	if (strstr(event, "rebind")) {
		driver_write("unbind");
		if (!driver_write("bind") && works())
			return "rebind";
	}
	if (strstr(event, "bus-reset")) {
		driver_write("unbind");
		device_write("reset");
		if (!driver_write("bind") && works())
			return "bus-reset";
	}
	return "fails";
}
