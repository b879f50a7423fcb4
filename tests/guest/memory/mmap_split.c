// SPDX-License-Identifier: MIT
/* test: TIMEOUT=60 DEVICE_ARGS=vram=64M */
/*
 * Mappings of a buffer object that the kernel splits, moves or copies: page n of the mapping stays
 * page n of the buffer object, for reads and for stores.
 */
#include "gt_main.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <xf86drm.h>

#define PAGES	64

static int fd;

/* One buffer object with two mappings: @all is never split, @part is. */
struct pair {
	struct gt_bo bo;
	char *all;
	char *part;
};

static volatile uint32_t *word(char *map, unsigned int page)
{
	return (volatile uint32_t *)(map + page * GT_PAGE);
}

/* Page n of the buffer object holds 1000 + n. No page of @part has been touched. */
static struct pair pair(uint32_t flags)
{
	struct pair p = { .bo = gt_bo(fd, PAGES * GT_PAGE, flags) };
	unsigned int i;

	p.all = p.bo.map;
	for (i = 0; i < PAGES; i++)
		*word(p.all, i) = 1000 + i;
	p.part = gt_bo_mmap(fd, p.bo.handle, PAGES * GT_PAGE);
	if (!p.part)
		gt_die("a second mapping of a BO fails");
	return p;
}

static void pair_free(struct pair *p)
{
	munmap(p->part, PAGES * GT_PAGE);
	gt_bo_free(&p->bo);
}

/* Pages @first to @end of the buffer object are seen, and written, from @map on. */
static void same_pages(struct pair *p, char *map, unsigned int first, unsigned int end)
{
	unsigned int i;

	for (i = first; i < end; i++)
		ktap_eq(*word(map, i - first), 1000 + i);
	for (i = first; i < end; i++)
		*word(map, i - first) = 5000 + i;
	for (i = 0; i < PAGES; i++)
		ktap_eq(*word(p->all, i), (i >= first && i < end ? 5000 : 1000) + i);
	for (i = first; i < end; i++)
		*word(p->all, i) = 1000 + i;
}

static const uint32_t kinds[] = { 0, DRM_TESSERA_BO_CACHED, DRM_TESSERA_BO_LOCAL };

static void unmap_middle(void)
{
	unsigned int k;

	for (k = 0; k < GT_ARRAY_SIZE(kinds); k++) {
		struct pair p = pair(kinds[k]);

		ktap_eq(munmap(p.part + 16 * GT_PAGE, GT_PAGE), 0);
		same_pages(&p, p.part + 17 * GT_PAGE, 17, PAGES);
		same_pages(&p, p.part, 0, 16);
		pair_free(&p);
	}
}

static void unmap_first(void)
{
	unsigned int k;

	for (k = 0; k < GT_ARRAY_SIZE(kinds); k++) {
		struct pair p = pair(kinds[k]);

		ktap_eq(munmap(p.part, 8 * GT_PAGE), 0);
		same_pages(&p, p.part + 8 * GT_PAGE, 8, PAGES);
		pair_free(&p);
	}
}

static void protect(void)
{
	unsigned int k, i;

	for (k = 0; k < GT_ARRAY_SIZE(kinds); k++) {
		struct pair p = pair(kinds[k]);

		ktap_eq(mprotect(p.part + 16 * GT_PAGE, 16 * GT_PAGE, PROT_READ), 0);
		for (i = 16; i < 32; i++)
			ktap_eq(*word(p.part, i), 1000 + i);
		same_pages(&p, p.part + 32 * GT_PAGE, 32, PAGES);
		ktap_eq(mprotect(p.part + 16 * GT_PAGE, 16 * GT_PAGE, PROT_READ | PROT_WRITE), 0);
		same_pages(&p, p.part, 0, PAGES);
		pair_free(&p);
	}
}

static void advise(void)
{
	unsigned int k;

	for (k = 0; k < GT_ARRAY_SIZE(kinds); k++) {
		struct pair p = pair(kinds[k]);

		ktap_eq(madvise(p.part + 16 * GT_PAGE, GT_PAGE, MADV_DONTFORK), 0);
		same_pages(&p, p.part, 0, PAGES);
		pair_free(&p);
	}
}

static void move(void)
{
	unsigned int k;

	for (k = 0; k < GT_ARRAY_SIZE(kinds); k++) {
		struct pair p = pair(kinds[k]);
		char *to = mmap(NULL, 32 * GT_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		ktap_ok(mremap(p.part + 32 * GT_PAGE, 32 * GT_PAGE, 32 * GT_PAGE,
			       MREMAP_MAYMOVE | MREMAP_FIXED, to) == to);
		same_pages(&p, to, 32, PAGES);
		same_pages(&p, p.part, 0, 32);
		munmap(to, 32 * GT_PAGE);
		pair_free(&p);
	}
}

/* The child faults in its own copy of a piece. */
static void forked(void)
{
	unsigned int k, i;

	for (k = 0; k < GT_ARRAY_SIZE(kinds); k++) {
		struct pair p = pair(kinds[k]);
		int status = -1;
		pid_t pid;

		munmap(p.part, 24 * GT_PAGE);
		pid = fork();
		if (!pid) {
			for (i = 24; i < PAGES; i++) {
				if (*word(p.part, i) != 1000 + i)
					_exit(1);
				*word(p.part, i) = 2000 + i;
			}
			_exit(0);
		}
		waitpid(pid, &status, 0);
		ktap_eq(status, 0);
		for (i = 0; i < PAGES; i++)
			ktap_eq(*word(p.all, i), (i < 24 ? 1000 : 2000) + i);
		pair_free(&p);
	}
}

/* A dma-buf can be mapped from any page on, and what is mapped can be split. */
static void dmabuf_offset(void)
{
	unsigned int k;

	for (k = 0; k < GT_ARRAY_SIZE(kinds); k++) {
		struct pair p = pair(kinds[k]);
		struct drm_prime_handle arg = { .handle = p.bo.handle,
						.flags = DRM_CLOEXEC | DRM_RDWR };
		char *map;

		ktap_eq(gt_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &arg), 0);
		map = mmap(NULL, 32 * GT_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, arg.fd,
			   32 * GT_PAGE);
		KTAP_REQUIRE(map != MAP_FAILED);
		same_pages(&p, map, 32, PAGES);
		ktap_eq(munmap(map + 4 * GT_PAGE, GT_PAGE), 0);
		same_pages(&p, map + 5 * GT_PAGE, 37, PAGES);
		munmap(map, 32 * GT_PAGE);
		ktap_ok(mmap(NULL, 32 * GT_PAGE, PROT_READ, MAP_SHARED, arg.fd,
			     33 * GT_PAGE) == MAP_FAILED);
		close(arg.fd);
		pair_free(&p);
	}
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	fd = gt_open();
	ktap_run("a page in the middle of a mapping is unmapped", unmap_middle);
	ktap_run("the first pages of a mapping are unmapped", unmap_first);
	ktap_run("the protection of a part of a mapping changes", protect);
	ktap_run("madvise() splits a mapping", advise);
	ktap_run("a part of a mapping moves", move);
	ktap_run("a child process uses a part of a mapping", forked);
	ktap_run("a dma-buf is mapped from a page in its middle", dmabuf_offset);
	close(fd);
	return gt_finish();
}
