// SPDX-License-Identifier: MIT
/* A screen by atomic mode setting, see screen.h. */
#include "screen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <drm_fourcc.h>

#define NODES 16

static int fail(char *error, const char *what)
{
	snprintf(error, SCREEN_ERROR, "%s: %s", what, strerror(errno));
	return -1;
}

/* ---- What there is --------------------------------------------------------------------------- */

static int find_property(struct screen *s, uint32_t object, uint32_t type, const char *name)
{
	drmModeObjectProperties *all = drmModeObjectGetProperties(s->fd, object, type);
	uint32_t id = 0;

	for (uint32_t i = 0; all && i < all->count_props && !id; i++) {
		drmModePropertyRes *property = drmModeGetProperty(s->fd, all->props[i]);

		if (property && !strcmp(property->name, name))
			id = property->prop_id;
		drmModeFreeProperty(property);
	}
	drmModeFreeObjectProperties(all);
	return (int)id;
}

static int find_properties(struct screen *s, char *error)
{
	const struct {
		uint32_t object, type;
		const char *name;
	} wanted[SCREEN_PROPERTIES] = {
		[SCREEN_CONNECTOR_CRTC] = { s->connector, DRM_MODE_OBJECT_CONNECTOR, "CRTC_ID" },
		[SCREEN_MODE] = { s->crtc, DRM_MODE_OBJECT_CRTC, "MODE_ID" },
		[SCREEN_ACTIVE] = { s->crtc, DRM_MODE_OBJECT_CRTC, "ACTIVE" },
		[SCREEN_OUT_FENCE] = { s->crtc, DRM_MODE_OBJECT_CRTC, "OUT_FENCE_PTR" },
		[SCREEN_FB] = { s->plane, DRM_MODE_OBJECT_PLANE, "FB_ID" },
		[SCREEN_PLANE_CRTC] = { s->plane, DRM_MODE_OBJECT_PLANE, "CRTC_ID" },
		[SCREEN_IN_FENCE] = { s->plane, DRM_MODE_OBJECT_PLANE, "IN_FENCE_FD" },
		[SCREEN_CRTC_W] = { s->plane, DRM_MODE_OBJECT_PLANE, "CRTC_W" },
		[SCREEN_CRTC_H] = { s->plane, DRM_MODE_OBJECT_PLANE, "CRTC_H" },
		[SCREEN_SRC_W] = { s->plane, DRM_MODE_OBJECT_PLANE, "SRC_W" },
		[SCREEN_SRC_H] = { s->plane, DRM_MODE_OBJECT_PLANE, "SRC_H" },
	};

	for (int i = 0; i < SCREEN_PROPERTIES; i++) {
		s->property[i] = (uint32_t)find_property(s, wanted[i].object, wanted[i].type,
							 wanted[i].name);
		if (!s->property[i]) {
			snprintf(error, SCREEN_ERROR, "there is no property %s", wanted[i].name);
			return -1;
		}
	}
	return 0;
}

/* The primary plane of CRTC number @n; 0: there is none. */
static uint32_t primary_plane(struct screen *s, unsigned int n)
{
	drmModePlaneRes *planes = drmModeGetPlaneResources(s->fd);
	uint32_t found = 0;

	for (uint32_t i = 0; planes && i < planes->count_planes && !found; i++) {
		drmModePlane *plane = drmModeGetPlane(s->fd, planes->planes[i]);
		drmModeObjectProperties *all = drmModeObjectGetProperties(
			s->fd, planes->planes[i], DRM_MODE_OBJECT_PLANE);
		const uint32_t type = (uint32_t)find_property(s, planes->planes[i],
							      DRM_MODE_OBJECT_PLANE, "type");

		for (uint32_t k = 0; all && plane && k < all->count_props; k++)
			if (all->props[k] == type && plane->possible_crtcs >> n & 1 &&
			    all->prop_values[k] == DRM_PLANE_TYPE_PRIMARY)
				found = plane->plane_id;
		drmModeFreeObjectProperties(all);
		drmModeFreePlane(plane);
	}
	drmModeFreePlaneResources(planes);
	return found;
}

/* A monitor, with the first CRTC it can have and that one's primary plane; false: none. */
static int find_monitor(struct screen *s)
{
	drmModeRes *all = drmModeGetResources(s->fd);

	s->connector = s->crtc = s->plane = 0;
	for (int i = 0; all && i < all->count_connectors && !s->connector; i++) {
		drmModeConnector *c = drmModeGetConnector(s->fd, all->connectors[i]);
		drmModeEncoder *encoder;

		if (!c || c->connection != DRM_MODE_CONNECTED || !c->count_modes ||
		    !c->count_encoders) {
			drmModeFreeConnector(c);
			continue;
		}
		encoder = drmModeGetEncoder(s->fd, c->encoders[0]);
		s->connector = c->connector_id;
		s->mode = c->modes[0];
		for (int n = 0; encoder && n < all->count_crtcs && !s->crtc; n++)
			if (encoder->possible_crtcs >> n & 1) {
				s->crtc = all->crtcs[n];
				s->plane = primary_plane(s, (unsigned int)n);
			}
		drmModeFreeEncoder(encoder);
		drmModeFreeConnector(c);
	}
	drmModeFreeResources(all);
	return s->connector && s->crtc && s->plane;
}

/* Opens the node at @path if it is a Tessera GPU with a monitor. */
static int try_node(struct screen *s, const char *path)
{
	drmVersion *version;
	int fits;

	s->fd = open(path, O_RDWR | O_CLOEXEC);
	if (s->fd < 0)
		return 0;
	version = drmGetVersion(s->fd);
	fits = version && !strcmp(version->name, "tessera") &&
	       !drmSetClientCap(s->fd, DRM_CLIENT_CAP_UNIVERSAL_PLANES, 1) &&
	       !drmSetClientCap(s->fd, DRM_CLIENT_CAP_ATOMIC, 1) && find_monitor(s);
	drmFreeVersion(version);
	if (!fits) {
		close(s->fd);
		s->fd = -1;
	}
	return fits;
}

int screen_open(struct screen *s, const char *path, char *error)
{
	char name[64];
	int found = path && try_node(s, path);

	for (int i = 0; !path && !found && i < NODES; i++) {
		snprintf(name, sizeof(name), "/dev/dri/card%d", i);
		found = try_node(s, name);
	}
	if (!found) {
		snprintf(error, SCREEN_ERROR,
			 "%s has no Tessera GPU with a monitor: DISPLAY_HEADS=1?",
			 path ? path : "/dev/dri");
		return -1;
	}
	if (!drmIsMaster(s->fd)) {
		snprintf(error, SCREEN_ERROR, "another program has the screen");
		return -1;
	}
	if (find_properties(s, error))
		return -1;
	if (drmModeCreatePropertyBlob(s->fd, &s->mode, sizeof(s->mode), &s->blob))
		return fail(error, "the mode cannot be named");
	return 0;
}

void screen_close(struct screen *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

/* ---- Pictures -------------------------------------------------------------------------------- */

int screen_add(struct screen *s, int dma_buf, uint64_t offset, uint32_t pitch, uint64_t modifier,
	       uint32_t *id, char *error)
{
	uint32_t handles[4] = { 0 }, pitches[4] = { pitch }, offsets[4] = { (uint32_t)offset };
	const uint64_t modifiers[4] = { modifier };

	if (drmPrimeFDToHandle(s->fd, dma_buf, &handles[0]))
		return fail(error, "the screen cannot have the picture");
	if (drmModeAddFB2WithModifiers(s->fd, s->mode.hdisplay, s->mode.vdisplay,
				       DRM_FORMAT_XBGR8888, handles, pitches, offsets, modifiers,
				       id, DRM_MODE_FB_MODIFIERS))
		return fail(error, "the screen cannot show the picture");
	return 0;
}

static void set(struct screen *s, drmModeAtomicReq *request, uint32_t object, int property,
		uint64_t value)
{
	drmModeAtomicAddProperty(request, object, s->property[property], value);
}

/* With the first flip comes the mode. */
static void set_mode(struct screen *s, drmModeAtomicReq *request)
{
	const uint64_t width = s->mode.hdisplay, height = s->mode.vdisplay;

	set(s, request, s->connector, SCREEN_CONNECTOR_CRTC, s->crtc);
	set(s, request, s->crtc, SCREEN_MODE, s->blob);
	set(s, request, s->crtc, SCREEN_ACTIVE, 1);
	set(s, request, s->plane, SCREEN_PLANE_CRTC, s->crtc);
	set(s, request, s->plane, SCREEN_CRTC_W, width);
	set(s, request, s->plane, SCREEN_CRTC_H, height);
	set(s, request, s->plane, SCREEN_SRC_W, width << 16);
	set(s, request, s->plane, SCREEN_SRC_H, height << 16);
}

int screen_flip(struct screen *s, uint32_t id, int ready, int *shown, char *error)
{
	drmModeAtomicReq *request = drmModeAtomicAlloc();
	uint32_t flags = DRM_MODE_ATOMIC_NONBLOCK;
	int32_t fence = -1;
	int ret;

	if (!request)
		return fail(error, "no memory for a flip");
	if (!s->on) {
		set_mode(s, request);
		flags |= DRM_MODE_ATOMIC_ALLOW_MODESET;
	}
	set(s, request, s->crtc, SCREEN_OUT_FENCE, (uint64_t)(uintptr_t)&fence);
	set(s, request, s->plane, SCREEN_FB, id);
	set(s, request, s->plane, SCREEN_IN_FENCE, (uint64_t)(int64_t)ready);
	ret = drmModeAtomicCommit(s->fd, request, flags, NULL);
	drmModeAtomicFree(request);
	if (ret)
		return fail(error, "the picture is not shown");
	s->on = 1;
	*shown = fence;
	return 0;
}

uint64_t screen_blanks(struct screen *s)
{
	uint64_t sequence = 0, ns;

	drmCrtcGetSequence(s->fd, s->crtc, &sequence, &ns);
	return sequence;
}
