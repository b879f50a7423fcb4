// SPDX-License-Identifier: MIT
/* Mode setting with raw ioctls. See kms.h. */
#include "kms.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void need(int ret, const char *what)
{
	if (ret)
		gt_die("%s: %s", what, strerror(-ret));
}

/* ---- objects ---- */

static uint64_t plane_type(struct kms *k, uint32_t plane)
{
	uint64_t type = 99;

	kms_property(k, plane, DRM_MODE_OBJECT_PLANE, "type", &type);
	return type;
}

/* Planes in the order of KMS_PLANES: that of the kernel's types is overlay, primary, cursor. */
static void find_planes(struct kms *k)
{
	static const unsigned int place[] = { 1, 0, 2 };
	uint32_t ids[32];
	struct drm_mode_get_plane_res res = { .plane_id_ptr = gt_ptr(ids), .count_planes = 32 };

	need(gt_ioctl(k->fd, DRM_IOCTL_MODE_GETPLANERESOURCES, &res), "planes");
	for (unsigned int i = 0; i < res.count_planes; i++) {
		struct drm_mode_get_plane plane = { .plane_id = ids[i] };
		uint64_t type = plane_type(k, ids[i]);

		need(gt_ioctl(k->fd, DRM_IOCTL_MODE_GETPLANE, &plane), "a plane");
		for (unsigned int h = 0; h < k->heads && type < 3; h++)
			if (plane.possible_crtcs == 1u << h)
				k->head[h].plane[place[type]] = ids[i];
	}
}

struct kms kms_open(void)
{
	struct kms k = { .fd = gt_open_card() };
	uint32_t crtcs[16], connectors[16];
	struct drm_mode_card_res res = {
		.crtc_id_ptr = gt_ptr(crtcs), .count_crtcs = 16,
		.connector_id_ptr = gt_ptr(connectors), .count_connectors = 16,
	};
	struct drm_set_client_cap cap = { .capability = DRM_CLIENT_CAP_ATOMIC, .value = 1 };

	need(gt_ioctl(k.fd, DRM_IOCTL_SET_CLIENT_CAP, &cap), "atomic mode setting");
	need(gt_ioctl(k.fd, DRM_IOCTL_MODE_GETRESOURCES, &res), "resources");
	k.heads = res.count_crtcs;
	for (unsigned int h = 0; h < k.heads; h++) {
		k.head[h].crtc = crtcs[h];
		k.head[h].connector = connectors[h];
	}
	find_planes(&k);
	return k;
}

void kms_close(struct kms *k)
{
	close(k->fd);
	k->fd = -1;
}

static int get_connector(struct kms *k, unsigned int head, struct drm_mode_get_connector *c,
			 struct drm_mode_modeinfo *modes, unsigned int most)
{
	int ret;

	*c = (struct drm_mode_get_connector){ .connector_id = k->head[head].connector };
	ret = gt_ioctl(k->fd, DRM_IOCTL_MODE_GETCONNECTOR, c);	/* probes */
	if (ret)
		return ret;
	c->count_modes = c->count_modes < most ? c->count_modes : most;
	c->count_props = c->count_encoders = 0;
	c->modes_ptr = gt_ptr(modes);
	return c->count_modes ? gt_ioctl(k->fd, DRM_IOCTL_MODE_GETCONNECTOR, c) : 0;
}

struct drm_mode_modeinfo kms_mode(struct kms *k, unsigned int head, unsigned int width,
				  unsigned int height)
{
	static struct drm_mode_modeinfo modes[128];
	struct drm_mode_get_connector c;

	need(get_connector(k, head, &c, modes, 128), "a connector");
	/* what there is may be more than there was room for: then nothing was written */
	for (unsigned int i = 0; i < c.count_modes && i < 128; i++)
		if (!width || (modes[i].hdisplay == width && modes[i].vdisplay == height))
			return modes[i];
	gt_die("no mode of %u by %u", width, height);
}

uint32_t kms_status(struct kms *k, unsigned int head, unsigned int *width)
{
	static struct drm_mode_modeinfo modes[128];
	struct drm_mode_get_connector c;

	need(get_connector(k, head, &c, modes, 128), "a connector");
	*width = c.count_modes ? modes[0].hdisplay : 0;
	return c.connection;
}

/* ---- pictures ---- */

int kms_addfb(struct kms *k, struct drm_mode_fb_cmd2 *cmd)
{
	return gt_ioctl(k->fd, DRM_IOCTL_MODE_ADDFB2, cmd);
}

int kms_rmfb(struct kms *k, uint32_t id)
{
	return gt_ioctl(k->fd, DRM_IOCTL_MODE_RMFB, &id);
}

static unsigned int bits(uint32_t format)
{
	return format == DRM_FORMAT_RGB565 ? 16 : format == DRM_FORMAT_ABGR16161616F ? 64 : 32;
}

struct kms_fb kms_fb(struct kms *k, unsigned int width, unsigned int height, uint32_t format)
{
	struct drm_mode_create_dumb dumb = {
		.width = width, .height = height, .bpp = bits(format),
	};
	struct drm_mode_map_dumb map = { 0 };
	struct drm_mode_fb_cmd2 cmd = { .width = width, .height = height, .pixel_format = format };
	struct kms_fb fb;

	need(gt_ioctl(k->fd, DRM_IOCTL_MODE_CREATE_DUMB, &dumb), "a dumb buffer");
	map.handle = cmd.handles[0] = dumb.handle;
	cmd.pitches[0] = dumb.pitch;
	need(gt_ioctl(k->fd, DRM_IOCTL_MODE_MAP_DUMB, &map), "a dumb buffer's mapping");
	need(kms_addfb(k, &cmd), "a framebuffer");
	fb = (struct kms_fb){ dumb.handle, cmd.fb_id, width, height, dumb.pitch, dumb.size, NULL };
	fb.map = mmap(NULL, dumb.size, PROT_READ | PROT_WRITE, MAP_SHARED, k->fd, map.offset);
	if (fb.map == MAP_FAILED)
		gt_die("mmap of a dumb buffer: %s", strerror(errno));
	return fb;
}

void kms_fb_free(struct kms *k, struct kms_fb *fb)
{
	struct drm_mode_destroy_dumb destroy = { .handle = fb->handle };

	kms_rmfb(k, fb->id);
	munmap(fb->map, fb->size);
	gt_ioctl(k->fd, DRM_IOCTL_MODE_DESTROY_DUMB, &destroy);
}

/* ---- atomic requests ---- */

uint32_t kms_property(struct kms *k, uint32_t object, uint32_t type, const char *name,
		      uint64_t *value)
{
	uint32_t ids[64];
	uint64_t values[64];
	struct drm_mode_obj_get_properties get = {
		.props_ptr = gt_ptr(ids), .prop_values_ptr = gt_ptr(values), .count_props = 64,
		.obj_id = object, .obj_type = type,
	};

	need(gt_ioctl(k->fd, DRM_IOCTL_MODE_OBJ_GETPROPERTIES, &get), "properties");
	for (unsigned int i = 0; i < get.count_props; i++) {
		struct drm_mode_get_property property = { .prop_id = ids[i] };

		need(gt_ioctl(k->fd, DRM_IOCTL_MODE_GETPROPERTY, &property), "a property");
		if (strcmp(property.name, name))
			continue;
		if (value)
			*value = values[i];
		return ids[i];
	}
	return 0;
}

void kms_set(struct kms_request *r, uint32_t object, uint32_t type, const char *name,
	     uint64_t value)
{
	uint32_t id = kms_property(r->k, object, type, name, NULL);

	if (!id)
		gt_die("no property %s", name);
	r->object[r->count] = object;
	r->property[r->count] = id;
	r->value[r->count++] = value;
}

void kms_set_plane(struct kms_request *r, unsigned int head, unsigned int plane, uint32_t fb,
		   int x, int y, unsigned int width, unsigned int height)
{
	const uint32_t id = r->k->head[head].plane[plane], type = DRM_MODE_OBJECT_PLANE;

	kms_set(r, id, type, "FB_ID", fb);
	kms_set(r, id, type, "CRTC_ID", fb ? r->k->head[head].crtc : 0);
	kms_set(r, id, type, "CRTC_X", (uint64_t)(int64_t)x);
	kms_set(r, id, type, "CRTC_Y", (uint64_t)(int64_t)y);
	kms_set(r, id, type, "CRTC_W", width);
	kms_set(r, id, type, "CRTC_H", height);
	kms_set(r, id, type, "SRC_X", 0);
	kms_set(r, id, type, "SRC_Y", 0);
	kms_set(r, id, type, "SRC_W", (uint64_t)width << 16);
	kms_set(r, id, type, "SRC_H", (uint64_t)height << 16);
}

void kms_set_mode(struct kms_request *r, unsigned int head, const struct drm_mode_modeinfo *mode)
{
	struct drm_mode_create_blob blob = { .data = gt_ptr(mode), .length = sizeof(*mode) };
	const struct kms_head *h = &r->k->head[head];

	if (mode)
		need(gt_ioctl(r->k->fd, DRM_IOCTL_MODE_CREATEPROPBLOB, &blob), "a blob");
	kms_set(r, h->crtc, DRM_MODE_OBJECT_CRTC, "MODE_ID", blob.blob_id);
	kms_set(r, h->crtc, DRM_MODE_OBJECT_CRTC, "ACTIVE", mode != NULL);
	kms_set(r, h->connector, DRM_MODE_OBJECT_CONNECTOR, "CRTC_ID", mode ? h->crtc : 0);
}

/* Objects in the order they came: properties of one stand together. */
int kms_commit(struct kms_request *r, uint32_t flags, uint64_t user)
{
	uint32_t objects[64], counts[64], n = 0;
	struct drm_mode_atomic atomic = {
		.flags = flags, .objs_ptr = gt_ptr(objects), .count_props_ptr = gt_ptr(counts),
		.props_ptr = gt_ptr(r->property), .prop_values_ptr = gt_ptr(r->value),
		.user_data = user,
	};

	for (unsigned int i = 0; i < r->count; i++) {
		if (!n || objects[n - 1] != r->object[i]) {
			objects[n] = r->object[i];
			counts[n++] = 0;
		}
		counts[n - 1]++;
	}
	atomic.count_objs = n;
	return gt_ioctl(r->k->fd, DRM_IOCTL_MODE_ATOMIC, &atomic);
}

int kms_show(struct kms *k, unsigned int head, const struct drm_mode_modeinfo *mode, uint32_t fb)
{
	struct kms_request r = { .k = k };

	kms_set_mode(&r, head, mode);
	kms_set_plane(&r, head, 0, fb, 0, 0, mode->hdisplay, mode->vdisplay);
	return kms_commit(&r, DRM_MODE_ATOMIC_ALLOW_MODESET, 0);
}

int kms_off(struct kms *k, unsigned int head)
{
	struct kms_request r = { .k = k };

	kms_set_mode(&r, head, NULL);
	for (unsigned int i = 0; i < KMS_PLANES; i++)
		kms_set_plane(&r, head, i, 0, 0, 0, 0, 0);
	return kms_commit(&r, DRM_MODE_ATOMIC_ALLOW_MODESET, 0);
}

/* ---- events, CRCs ---- */

bool kms_event(struct kms *k, struct drm_event_vblank *event, unsigned int ms)
{
	static char left[4096];
	static size_t at, end;
	struct pollfd p = { .fd = k->fd, .events = POLLIN };

	if (at == end) {
		ssize_t got;

		if (poll(&p, 1, (int)ms) <= 0 || (got = read(k->fd, left, sizeof(left))) <= 0)
			return false;
		at = 0;
		end = (size_t)got;
	}
	memcpy(event, left + at, sizeof(*event));
	at += event->base.length;
	return true;
}

int kms_sequence(struct kms *k, unsigned int head, uint64_t *sequence, uint64_t *ns)
{
	struct drm_crtc_get_sequence get = { .crtc_id = k->head[head].crtc };
	int ret = gt_ioctl(k->fd, DRM_IOCTL_CRTC_GET_SEQUENCE, &get);

	*sequence = get.sequence;
	*ns = (uint64_t)get.sequence_ns;
	return ret;
}

int kms_crc_open(unsigned int head)
{
	char leaf[40], path[300];
	int fd;

	snprintf(leaf, sizeof(leaf), "crtc-%u/crc/control", head);
	gt_debugfs(leaf, path, sizeof(path));
	if (gt_write_file(path, "auto"))
		return -EIO;
	memcpy(strrchr(path, '/') + 1, "data", sizeof("data"));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

bool kms_crc(int fd, uint32_t *frame, uint32_t *crc)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char line[64] = "";

	return poll(&p, 1, 10000) > 0 && read(fd, line, sizeof(line) - 1) > 0 &&
	       sscanf(line, "%x %x", frame, crc) == 2;
}

uint32_t kms_crc_of(const uint32_t *pixels, size_t count)
{
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < count; i++)
		for (int byte = 2; byte >= 0; byte--) {
			crc ^= pixels[i] >> 8 * byte & 0xff;
			for (unsigned int bit = 0; bit < 8; bit++)
				crc = crc >> 1 ^ (0xedb88320u & -(crc & 1));
		}
	return ~crc;
}

uint64_t kms_mapped(unsigned int *idle)
{
	char path[300], text[2048];
	unsigned long long mapped;
	const char *line;

	gt_debugfs("heads", path, sizeof(path));
	gt_read_file(path, text, sizeof(text));
	line = strstr(text, "framebuffers:");
	if (!line || sscanf(line, "framebuffers: %llu mapped, %u idle", &mapped, idle) != 2)
		gt_die("%s does not count framebuffers", path);
	return mapped;
}

bool kms_crc_settles(unsigned int head, uint32_t crc)
{
	int fd = kms_crc_open(head);
	uint32_t frame, got = ~crc;

	for (unsigned int i = 0; fd >= 0 && i < 30 && got != crc; i++)
		if (!kms_crc(fd, &frame, &got))
			break;
	if (fd >= 0)
		close(fd);
	return got == crc;
}
