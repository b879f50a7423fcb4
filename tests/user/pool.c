// SPDX-License-Identifier: MIT
/* VMs and the sub-allocator, on a kernel that records every mapping. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include <xf86drm.h>

#include "fake_drm.h"
#include "ktap.h"
#include "rnd.h"

#define ACCESS (DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_WRITE)

static void test_addresses(void)
{
	struct tsr_device *device = fake_open();
	struct tsr_vm *vm;
	uint64_t a, b, c;

	KTAP_REQUIRE(!tsr_vm_create(device, &vm));
	ktap_eq(tsr_vm_alloc(vm, 1, 0, &a), 0);
	ktap_eq(a, 0x1000);			/* the first address of the device, one granule */
	ktap_eq(tsr_vm_alloc(vm, 0x2000, 0x8000, &b), 0);
	ktap_eq(b, 0x8000);
	/* 2 MiB and more start at large pages; the gap before is used by small ones */
	ktap_eq(tsr_vm_alloc(vm, 0x200000, 0, &c), 0);
	ktap_eq(c, 0x200000);
	ktap_eq(tsr_vm_alloc(vm, 0x1000, 0, &c), 0);
	ktap_eq(c, 0x2000);
	ktap_eq(tsr_vm_reserve(vm, 0x2000, 0x1000), -EBUSY);
	ktap_eq(tsr_vm_reserve(vm, 0x3000, 0x5000), 0);
	ktap_eq(tsr_vm_reserve(vm, 0x3000, 0x1000), -EBUSY);
	ktap_eq(tsr_vm_reserve(vm, 0x100800, 0x1000), -EINVAL);
	ktap_eq(tsr_vm_reserve(vm, 0, 0x1000), -EINVAL);
	ktap_eq(tsr_vm_reserve(vm, (1ull << 40) - 0x1000, 0x2000), -EINVAL);
	ktap_eq(tsr_vm_reserve(vm, (1ull << 40) - 0x1000, 0x1000), 0);
	ktap_eq(tsr_vm_free(vm, 0x3000, 0x5000), 0);
	ktap_eq(tsr_vm_free(vm, 0x3000, 0x5000), -EINVAL);
	ktap_eq(tsr_vm_alloc(vm, 0x1000, 3, &c), -EINVAL);
	ktap_eq(tsr_vm_alloc(vm, 0, 0, &c), -EINVAL);
	ktap_eq(tsr_vm_alloc(vm, 1ull << 40, 0, &c), -ENOSPC);
	ktap_eq(tsr_vm_alloc(vm, UINT64_MAX, 0, &c), -EINVAL);
	tsr_vm_unref(vm);
	fake_close(device);
}

static void test_map(void)
{
	struct tsr_device *device = fake_open();
	const struct fake_map *map;
	struct tsr_bo *bo;
	struct tsr_vm *vm;
	uint64_t va = 7;

	KTAP_REQUIRE(!tsr_vm_create(device, &vm));
	KTAP_REQUIRE(!tsr_bo_create(device, 0x300001, 0, NULL, &bo));
	ktap_eq(tsr_bo_size(bo), 0x301000);
	ktap_eq(tsr_vm_map(vm, bo, 0x1000, 0x200001, ACCESS, &va), 0);
	ktap_eq(va, 0x200000);
	map = fake_at(va);
	KTAP_REQUIRE(map);
	ktap_eq(map->size, 0x201000);
	ktap_eq(map->bo_offset, 0x1000);
	ktap_eq(map->bo, tsr_bo_handle(bo));
	ktap_eq(map->access, ACCESS);
	ktap_eq(tsr_vm_unmap(vm, va, 0x200001), 0);
	ktap_ok(!fake_at(va));
	/* refused: nothing is mapped, and no address is lost */
	ktap_eq(tsr_vm_map(vm, bo, 0x301000, 0, ACCESS, &va), -EINVAL);
	ktap_eq(tsr_vm_map(vm, bo, 0x1000, 0x301000, ACCESS, &va), -EINVAL);
	ktap_eq(tsr_vm_map(vm, bo, 0x1001, 0x1000, ACCESS, &va), -EINVAL);
	ktap_eq(tsr_vm_map(vm, bo, 0, 0x1000, 0, &va), -EINVAL);
	ktap_eq(tsr_vm_map(vm, bo, 0, 0x1000, ACCESS, &va), 0);
	ktap_eq(va, 0x1000);
	ktap_eq(tsr_vm_unmap(vm, va, 0x1000), 0);
	ktap_eq(fake.map_count, 0);
	tsr_bo_unref(bo);
	tsr_vm_unref(vm);
	fake_close(device);
}

#define PIECES 300

/* Allocations at random; each is filled, and what it holds is looked at before it goes. */
static void churn(struct tsr_pool *pool, unsigned int steps)
{
	struct tsr_alloc pieces[PIECES] = { 0 };
	unsigned int i, n;
	const struct fake_map *map;
	uint64_t size, align, byte;

	for (i = 0; i < steps && !ktap.bad; i++) {
		n = rnd_below(PIECES);
		if (pieces[n].chunk) {
			for (byte = 0; byte < pieces[n].size; byte++)
				ktap_eq(((uint8_t *)pieces[n].cpu)[byte], (uint8_t)n);
			ktap_eq(tsr_pool_free(pool, &pieces[n]), 0);
			ktap_ok(!pieces[n].chunk);
			continue;
		}
		size = 1 + rnd_below(i % 50 ? 700 : 20000);
		align = 1u << rnd_below(13);
		if (!ktap_eq(tsr_pool_alloc(pool, size, align, &pieces[n]), 0))
			break;
		ktap_eq(pieces[n].va % align, 0);
		ktap_eq(pieces[n].offset % align, 0);
		ktap_eq(pieces[n].size, size);
		memset(pieces[n].cpu, (int)n, size);
		map = fake_at(pieces[n].va);
		if (!ktap_ok(map))
			break;
		ktap_eq(map->va + pieces[n].offset, pieces[n].va);
		ktap_eq(map->bo, tsr_bo_handle(pieces[n].bo));
	}
	for (n = 0; n < PIECES; n++)
		ktap_eq(tsr_pool_free(pool, &pieces[n]), 0);
}

static void test_pool(void)
{
	struct tsr_device *device = fake_open();
	struct tsr_pool *pool;
	struct tsr_vm *vm;

	KTAP_REQUIRE(!tsr_vm_create(device, &vm));
	KTAP_REQUIRE(!tsr_pool_create(vm, 16384, 0, ACCESS, &pool));
	tsr_vm_unref(vm);		/* the pool keeps it */
	ktap_eq(fake.bos_alive, 0);	/* nothing before the first allocation */
	churn(pool, 20000);
	ktap_eq(fake.bos_alive, 1);	/* one empty chunk is kept */
	tsr_pool_unref(pool);
	ktap_eq(fake.map_count, 0);
	fake_close(device);
}

struct thread {
	pthread_t id;
	struct tsr_pool *pool;
	unsigned int number;
};

static void *run_thread(void *arg)
{
	struct tsr_alloc mine[64];
	struct thread *thread = arg;
	unsigned int round, i;

	for (round = 0; round < 40; round++) {
		for (i = 0; i < 64; i++) {
			if (tsr_pool_alloc(thread->pool, 100 + i, 64, &mine[i]))
				return thread;
			memset(mine[i].cpu, (int)thread->number, mine[i].size);
		}
		for (i = 0; i < 64; i++) {
			if (((uint8_t *)mine[i].cpu)[0] != thread->number ||
			    ((uint8_t *)mine[i].cpu)[mine[i].size - 1] != thread->number ||
			    tsr_pool_free(thread->pool, &mine[i]))
				return thread;
		}
	}
	return NULL;
}

/* Four threads on one pool: no piece is given to two of them. */
static void test_threads(void)
{
	struct tsr_device *device = fake_open();
	struct thread threads[4];
	struct tsr_pool *pool;
	struct tsr_vm *vm;
	unsigned int i;
	void *failed;

	KTAP_REQUIRE(!tsr_vm_create(device, &vm));
	KTAP_REQUIRE(!tsr_pool_create(vm, 8192, 0, ACCESS, &pool));
	for (i = 0; i < 4; i++) {
		threads[i] = (struct thread){ .pool = pool, .number = i + 1 };
		ktap_eq(pthread_create(&threads[i].id, NULL, run_thread, &threads[i]), 0);
	}
	for (i = 0; i < 4; i++) {
		pthread_join(threads[i].id, &failed);
		ktap_ok(!failed);
	}
	tsr_pool_unref(pool);
	tsr_vm_unref(vm);
	fake_close(device);
}

static void test_misuse(void)
{
	struct tsr_device *device = fake_open();
	struct tsr_pool *pool, *second;
	struct tsr_alloc a, stale, none = { 0 };
	struct tsr_vm *vm;

	KTAP_REQUIRE(!tsr_vm_create(device, &vm));
	KTAP_REQUIRE(!tsr_pool_create(vm, 0, 0, ACCESS, &pool));
	KTAP_REQUIRE(!tsr_pool_create(vm, 0, 0, ACCESS, &second));
	ktap_eq(tsr_pool_alloc(pool, 0, 0, &a), -EINVAL);
	ktap_eq(tsr_pool_alloc(pool, 1, 3, &a), -EINVAL);
	ktap_eq(tsr_pool_alloc(pool, 1, 4 << 20, &a), -EINVAL);
	ktap_eq(tsr_pool_alloc(pool, UINT64_MAX, 0, &a), -EINVAL);
	ktap_eq(tsr_pool_alloc(pool, 2ull << 30, 0, &a), -EINVAL);	/* larger than any BO */
	ktap_eq(tsr_pool_alloc(pool, 1000, 2 << 20, &a), 0);
	ktap_eq(a.va % (2 << 20), 0);
	stale = a;
	ktap_eq(tsr_pool_free(second, &a), -EINVAL);
	ktap_eq(tsr_pool_free(pool, &a), 0);
	ktap_eq(tsr_pool_free(pool, &stale), -EINVAL);
	ktap_eq(tsr_pool_free(pool, &none), 0);
	tsr_pool_unref(pool);
	tsr_pool_unref(second);
	tsr_vm_unref(vm);
	fake_close(device);
}

/* Each kernel call that an allocation makes fails once: the error comes out, nothing stays behind.
 */
static void test_failures(void)
{
	static const unsigned long requests[] = {
		DRM_IOCTL_TESSERA_BO_CREATE, DRM_IOCTL_TESSERA_VM_BIND,
		DRM_IOCTL_TESSERA_BO_MMAP_OFFSET,
	};
	struct tsr_device *device = fake_open();
	struct tsr_pool *pool;
	struct tsr_alloc a;
	struct tsr_vm *vm;
	unsigned int i;

	KTAP_REQUIRE(!tsr_vm_create(device, &vm));
	KTAP_REQUIRE(!tsr_pool_create(vm, 0, 0, ACCESS, &pool));
	for (i = 0; i < 3; i++) {
		fake.fail = ENODEV;
		fake.fail_request = requests[i];
		ktap_eq(tsr_pool_alloc(pool, 64, 0, &a), -ENODEV);
		ktap_ok(strstr(tsr_error_message(), "unplugged"));
		fake.fail = 0;
		ktap_eq(fake.bos_alive, 0);
		ktap_eq(fake.map_count, 0);
	}
	ktap_eq(tsr_pool_alloc(pool, 64, 0, &a), 0);
	ktap_eq(a.va, 0x200000);	/* no address was lost on the way */
	tsr_pool_unref(pool);
	tsr_vm_unref(vm);
	fake_close(device);
}

int main(void)
{
	ktap_start();
	ktap_run("[MEM2] addresses: first fit, granules, large pages, reservations",
		 test_addresses);
	ktap_run("[MEM2] mapping a range of a BO and undoing it", test_map);
	ktap_run("[SYS5] pool: no two allocations overlap, all is given back", test_pool);
	ktap_run("[SYS5] pool: four threads", test_threads);
	ktap_run("[SYS5] pool: what is refused", test_misuse);
	ktap_run("[SYS5] pool: each failure of the kernel is undone", test_failures);
	return ktap_finish();
}
