// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Copyright 2026 The Tessera authors */

/*
 * A driver without a device that breaks one rule for dma_fence when it is asked to: write the name
 * of an act to bad_fence/act in debugfs. The acts of acts[] break the rule of the same name;
 * "correct N" makes N fences in correct ways.
 *
 * For the rules about sections, fencewatch must know bad_fence_section: sections=bad_fence_section.
 */

#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/dma-fence.h>
#include <linux/dma-fence-array.h>
#include <linux/dma-fence-chain.h>
#include <linux/dma-resv.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/uaccess.h>

#ifdef BAD_FENCE_OLD_ENABLE
#define dma_fence_enable_signaling	dma_fence_enable_sw_signaling
#endif

#ifdef BAD_FENCE_OLD_ARRAY
#define array_create(...)	dma_fence_array_create(__VA_ARGS__, false)
#else
#define array_create(...)	dma_fence_array_create(__VA_ARGS__)
#endif

/* The fence is not at the beginning, as in most drivers' jobs. */
struct bad_fence {
	u64 job[8];
	struct dma_fence base;
	spinlock_t lock;	/* of base */
	bool now;	/* free it without waiting for readers */
};

static struct dentry *dir;
static struct bad_fence *kept;	/* is never signalled */
static struct kmem_cache *cache;

static const char *name(struct dma_fence *fence)
{
	return "bad_fence";
}

static void free_rcu(struct rcu_head *rcu)
{
	kmem_cache_free(cache, container_of(rcu, struct bad_fence, base.rcu));
}

static void release(struct dma_fence *fence)
{
	if (container_of(fence, struct bad_fence, base)->now)
		free_rcu(&fence->rcu);
	else
		call_rcu(&fence->rcu, free_rcu);
}

static const struct dma_fence_ops ops = {
	.get_driver_name = name,
	.get_timeline_name = name,
	.release = release,
};

static struct bad_fence *fence_new(u64 context, u64 seqno)
{
	struct bad_fence *fence = kmem_cache_zalloc(cache, GFP_KERNEL);

	if (fence) {
		spin_lock_init(&fence->lock);
		dma_fence_init(&fence->base, &ops, &fence->lock, context, seqno);
	}
	return fence;
}

static void finish(struct bad_fence *fence)
{
	dma_fence_signal(&fence->base);
	dma_fence_put(&fence->base);
}

/* Until its end a fence waits, as far as fencewatch is told. */
noinline void bad_fence_section(void (*what)(void *arg), void *arg);
noinline void bad_fence_section(void (*what)(void *arg), void *arg)
{
	what(arg);
	barrier();
}

static int never_signalled(void)
{
	if (kept)
		return -EBUSY;
	kept = fence_new(dma_fence_context_alloc(1), 1);
	if (!kept)
		return -ENOMEM;
	return dma_fence_wait_timeout(&kept->base, true, HZ / 100) < 0 ? -EINTR : 0;
}

/* Ends what never_signalled() began. */
static int heal(void)
{
	if (kept)
		finish(kept);
	kept = NULL;
	return 0;
}

static int destroyed_pending(void)
{
	struct bad_fence *fence = fence_new(dma_fence_context_alloc(1), 1);

	if (!fence)
		return -ENOMEM;
	dma_fence_enable_signaling(&fence->base);
	dma_fence_put(&fence->base);
	return 0;
}

/* Two fences of one context whose numbers are those, the second of which signals first. */
static int two(u64 first, u64 second, bool swap)
{
	u64 context = dma_fence_context_alloc(1);
	struct bad_fence *a = fence_new(context, first), *b = fence_new(context, second);
	int ret = a && b ? 0 : -ENOMEM;

	if (swap && b)
		dma_fence_signal(&b->base);
	if (a)
		finish(a);
	if (b)
		finish(b);
	return ret;
}

static int out_of_order(void)
{
	int ret;

	/* On one processor the order is certain. */
	migrate_disable();
	ret = two(1, 2, true);
	migrate_enable();
	return ret;
}

static int seqno_backwards(void)
{
	return two(5, 4, false);
}

static int freed_alive(void)
{
	struct bad_fence *fence = fence_new(dma_fence_context_alloc(1), 1);

	if (!fence)
		return -ENOMEM;
	dma_fence_enable_signaling(&fence->base);
	dma_fence_signal(&fence->base);
	kmem_cache_free(cache, fence);
	return 0;
}

static int freed_in_grace_period(void)
{
	struct bad_fence *fence = fence_new(dma_fence_context_alloc(1), 1);

	if (!fence)
		return -ENOMEM;
	fence->now = true;
	finish(fence);
	return 0;
}

/* A fence in the second page of its object. */
struct large {
	u8 job[PAGE_SIZE + 1000];
	struct dma_fence base;
	spinlock_t lock;	/* of base */
	u8 more[PAGE_SIZE];
};

static void large_release(struct dma_fence *fence)
{
	kfree(container_of(fence, struct large, base));
}

static const struct dma_fence_ops large_ops = {
	.get_driver_name = name,
	.get_timeline_name = name,
	.release = large_release,
};

static int freed_large(void)
{
	struct large *large = kzalloc(sizeof(*large), GFP_KERNEL);

	if (!large)
		return -ENOMEM;
	spin_lock_init(&large->lock);
	dma_fence_init(&large->base, &large_ops, &large->lock, dma_fence_context_alloc(1), 1);
	dma_fence_signal(&large->base);
	dma_fence_put(&large->base);
	return 0;
}

static int error_late(void)
{
	struct bad_fence *fence = fence_new(dma_fence_context_alloc(1), 1);

	if (!fence)
		return -ENOMEM;
	dma_fence_signal(&fence->base);
	fence->base.error = -EIO;
	dma_fence_put(&fence->base);
	return 0;
}

static int error_odd(void)
{
	struct bad_fence *fence = fence_new(dma_fence_context_alloc(1), 1);

	if (!fence)
		return -ENOMEM;
	fence->base.error = EIO;
	finish(fence);
	return 0;
}

static void allocate(void *flags)
{
	kfree(kmalloc(*(gfp_t *)flags == GFP_KERNEL ? 600 : 700, *(gfp_t *)flags));
}

static int allocates_while_signalling(void)
{
	gfp_t flags = GFP_KERNEL;

	bad_fence_section(allocate, &flags);
	return 0;
}

static void wait(void *fence)
{
	dma_fence_wait_timeout(fence, false, HZ / 100);
	barrier();	/* Without a tail call, this function is in the stack. */
}

static int waits_while_signalling(void)
{
	struct bad_fence *fence = fence_new(dma_fence_context_alloc(1), 1);

	if (!fence)
		return -ENOMEM;
	bad_fence_section(wait, &fence->base);
	finish(fence);
	return 0;
}

static void lock_resv(void *resv)
{
	dma_resv_lock(resv, NULL);
	dma_resv_unlock(resv);
}

static int resv_while_signalling(void)
{
	struct dma_resv *resv = kzalloc(sizeof(*resv), GFP_KERNEL);

	if (!resv)
		return -ENOMEM;
	dma_resv_init(resv);
	bad_fence_section(lock_resv, resv);
	dma_resv_fini(resv);
	kfree(resv);
	return 0;
}

/* All of the following is allowed in a section. */
static void allowed(void *fence)
{
	gfp_t atomic = GFP_NOWAIT, kernel = GFP_KERNEL;
	unsigned int flags = memalloc_noreclaim_save();

	allocate(&kernel);
	memalloc_noreclaim_restore(flags);
	allocate(&atomic);
	dma_fence_wait_timeout(fence, false, 0);
	dma_fence_signal(fence);
	dma_fence_wait_timeout(fence, false, HZ);
}

static void called(struct dma_fence *fence, struct dma_fence_cb *cb)
{
	/* The fence knows who waits; nothing else is to be done. */
}

/* Puts the fence into an array and that into a chain, and drops both; the fence signals later. */
static int contain(struct dma_fence *fence)
{
	struct dma_fence **list = kmalloc_array(1, sizeof(*list), GFP_KERNEL);
	struct dma_fence_chain *chain = dma_fence_chain_alloc();
	struct dma_fence_array *array = NULL;

	if (chain && list) {
		list[0] = dma_fence_get(fence);
		array = array_create(1, list, dma_fence_context_alloc(1), 1);
		if (!array)
			dma_fence_put(fence);
	}
	if (!array) {
		kfree(list);
		dma_fence_chain_free(chain);
		return -ENOMEM;
	}
	dma_fence_chain_init(chain, NULL, &array->base, 1);
	dma_fence_enable_signaling(&chain->base);
	dma_fence_put(&chain->base);
	return 0;
}

#define BATCH	16

/* Fences of one context, awaited in several ways, signalled in order with and without an error. */
static int batch(u64 context, u64 *seqno)
{
	struct bad_fence *fences[BATCH];
	struct dma_fence_cb cbs[BATCH];
	unsigned int i, count;
	int ret = 0;

	for (count = 0; count < BATCH; count++) {
		fences[count] = fence_new(context, ++*seqno);
		if (!fences[count]) {
			ret = -ENOMEM;
			break;
		}
		if (count % 4 == 0)
			dma_fence_add_callback(&fences[count]->base, &cbs[count], called);
		if (count % 4 == 1)
			ret = ret ?: contain(&fences[count]->base);
	}
	for (i = 0; i < count; i++) {
		if (i % 8 == 7)
			dma_fence_set_error(&fences[i]->base, -ECANCELED);
		if (i % 8 == 6)
			bad_fence_section(allowed, &fences[i]->base);
		finish(fences[i]);
	}
	return ret;
}

static int correct(unsigned long count)
{
	u64 context = dma_fence_context_alloc(1), seqno = (u32)-100;	/* The number wraps soon. */
	int ret = 0;

	while (count && !ret) {
		ret = batch(context, &seqno);
		count -= min_t(unsigned long, count, BATCH);
		cond_resched();
		if (signal_pending(current))
			ret = -EINTR;
	}
	return ret;
}

static const struct {
	const char *name;
	int (*act)(void);
} acts[] = {
	{ "never_signalled", never_signalled },
	{ "heal", heal },
	{ "destroyed_pending", destroyed_pending },
	{ "out_of_order", out_of_order },
	{ "seqno_backwards", seqno_backwards },
	{ "freed_alive", freed_alive },
	{ "freed_in_grace_period", freed_in_grace_period },
	{ "freed_large", freed_large },
	{ "error_late", error_late },
	{ "error_odd", error_odd },
	{ "allocates_while_signalling", allocates_while_signalling },
	{ "waits_while_signalling", waits_while_signalling },
	{ "resv_while_signalling", resv_while_signalling },
};

static ssize_t act_write(struct file *file, const char __user *text, size_t size, loff_t *at)
{
	char word[40] = "";
	unsigned long count;
	unsigned int i;
	int ret = -EINVAL;

	if (size >= sizeof(word))
		return -EINVAL;
	if (copy_from_user(word, text, size))
		return -EFAULT;
	strim(word);
	if (!strncmp(word, "correct ", 8) && !kstrtoul(word + 8, 0, &count))
		ret = correct(count);
	for (i = 0; i < ARRAY_SIZE(acts); i++)
		if (!strcmp(word, acts[i].name))
			ret = acts[i].act();
	return ret ?: size;
}

static const struct file_operations act_operations = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = act_write,
};

static int __init bad_fence_init(void)
{
	cache = KMEM_CACHE(bad_fence, 0);
	if (!cache)
		return -ENOMEM;
	dir = debugfs_create_dir("bad_fence", NULL);
	debugfs_create_file("act", 0200, dir, NULL, &act_operations);
	return 0;
}

static void __exit bad_fence_exit(void)
{
	debugfs_remove(dir);
	heal();
	rcu_barrier();
	kmem_cache_destroy(cache);
}

module_init(bad_fence_init);
module_exit(bad_fence_exit);
MODULE_DESCRIPTION("Breaks the rules for dma_fence on request");
MODULE_LICENSE("Dual MIT/GPL");
