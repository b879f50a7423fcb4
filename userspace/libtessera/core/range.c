// SPDX-License-Identifier: MIT
/*
 * First-fit range allocator: a treap of free ranges ordered by address. Each node knows the longest
 * range in its subtree, so a search skips subtrees in which nothing can fit. The number of free
 * ranges is at most the number of taken ones plus one.
 */
#include <errno.h>
#include <stdlib.h>

#include "range.h"

struct tsr_range_node {
	uint64_t start, size;			/* one free range */
	uint64_t largest;			/* longest size in this subtree */
	uint32_t priority;			/* heap order: not below that of the children */
	struct tsr_range_node *left, *right;	/* lower and higher addresses */
};

static uint64_t largest_of(const struct tsr_range_node *node)
{
	return node ? node->largest : 0;
}

static void update(struct tsr_range_node *node)
{
	node->largest = node->size;
	if (largest_of(node->left) > node->largest)
		node->largest = largest_of(node->left);
	if (largest_of(node->right) > node->largest)
		node->largest = largest_of(node->right);
}

/* Split @node into the ranges that start below @at and the others. */
static void split(struct tsr_range_node *node, uint64_t at, struct tsr_range_node **low,
		  struct tsr_range_node **high)
{
	if (!node) {
		*low = NULL;
		*high = NULL;
	} else if (node->start < at) {
		split(node->right, at, &node->right, high);
		update(node);
		*low = node;
	} else {
		split(node->left, at, low, &node->left);
		update(node);
		*high = node;
	}
}

/* Join two treaps; every address in @low is below every one in @high. */
static struct tsr_range_node *join(struct tsr_range_node *low, struct tsr_range_node *high)
{
	if (!low || !high)
		return low ? low : high;
	if (low->priority >= high->priority) {
		low->right = join(low->right, high);
		update(low);
		return low;
	}
	high->left = join(low, high->left);
	update(high);
	return high;
}

static struct tsr_range_node *new_node(struct tsr_range *range, uint64_t start, uint64_t size)
{
	struct tsr_range_node *node = calloc(1, sizeof(*node));

	if (!node)
		return NULL;
	/* xorshift32: equal for equal histories, so that addresses repeat from run to run */
	range->seed ^= range->seed << 13;
	range->seed ^= range->seed >> 17;
	range->seed ^= range->seed << 5;
	node->start = start;
	node->size = size;
	node->largest = size;
	node->priority = range->seed;
	return node;
}

static void insert(struct tsr_range *range, struct tsr_range_node *node)
{
	struct tsr_range_node *low, *high;

	node->left = NULL;
	node->right = NULL;
	update(node);
	split(range->root, node->start, &low, &high);
	range->root = join(join(low, node), high);
}

/* Take the node that starts at @start out of the tree; it is there. */
static struct tsr_range_node *detach(struct tsr_range *range, uint64_t start)
{
	struct tsr_range_node *low, *node, *high;

	split(range->root, start, &low, &high);
	split(high, start + 1, &node, &high);
	range->root = join(low, high);
	return node;
}

int tsr_range_init(struct tsr_range *range, uint64_t start, uint64_t end)
{
	range->start = start;
	range->end = end;
	range->free = end - start;
	range->seed = 2463534242u;
	range->root = NULL;
	if (start == end)
		return 0;
	range->root = new_node(range, start, end - start);
	return range->root ? 0 : -ENOMEM;
}

static void free_tree(struct tsr_range_node *node)
{
	if (!node)
		return;
	free_tree(node->left);
	free_tree(node->right);
	free(node);
}

void tsr_range_fini(struct tsr_range *range)
{
	free_tree(range->root);
	range->root = NULL;
}

uint64_t tsr_range_largest(const struct tsr_range *range)
{
	return largest_of(range->root);
}

/* True if @node holds an aligned range; *@at gets its start. */
static bool fits(const struct tsr_range_node *node, uint64_t size, uint64_t align, uint64_t *at)
{
	uint64_t skip = -node->start & (align - 1);

	*at = node->start + skip;
	return node->size >= size && node->size - size >= skip;
}

/* The lowest node that fits, depth first from low addresses. */
static struct tsr_range_node *find(struct tsr_range_node *node, uint64_t size, uint64_t align,
				   uint64_t *at)
{
	struct tsr_range_node *found;

	while (largest_of(node) >= size) {
		found = find(node->left, size, align, at);
		if (found)
			return found;
		if (fits(node, size, align, at))
			return node;
		node = node->right;
	}
	return NULL;
}

/* The free range that contains @at, or NULL. */
static struct tsr_range_node *containing(const struct tsr_range *range, uint64_t at)
{
	struct tsr_range_node *node = range->root;

	while (node) {
		if (at < node->start)
			node = node->left;
		else if (at - node->start >= node->size)
			node = node->right;
		else
			return node;
	}
	return NULL;
}

/* Cut [@at, @at + @size) out of the free range @node that contains it. */
static int carve(struct tsr_range *range, struct tsr_range_node *node, uint64_t at, uint64_t size)
{
	uint64_t before = at - node->start;
	uint64_t after = node->size - before - size;
	struct tsr_range_node *second = NULL;

	if (before && after) {
		second = new_node(range, at + size, after);
		if (!second)
			return -ENOMEM;
	}
	node = detach(range, node->start);
	if (before) {
		node->size = before;
		insert(range, node);
	} else if (after) {
		node->start = at + size;
		node->size = after;
		insert(range, node);
	} else {
		free(node);
	}
	if (second)
		insert(range, second);
	range->free -= size;
	return 0;
}

int tsr_range_alloc(struct tsr_range *range, uint64_t size, uint64_t align, uint64_t *at)
{
	struct tsr_range_node *node;
	uint64_t found;
	int ret;

	node = find(range->root, size, align, &found);
	if (!node)
		return -ENOSPC;
	ret = carve(range, node, found, size);
	if (!ret)
		*at = found;
	return ret;
}

int tsr_range_take(struct tsr_range *range, uint64_t at, uint64_t size)
{
	struct tsr_range_node *node = containing(range, at);

	if (!node || node->size - (at - node->start) < size)
		return -EBUSY;
	return carve(range, node, at, size);
}

/* The lowest free range that starts at or behind @at, or NULL. */
static const struct tsr_range_node *next_free(const struct tsr_range *range, uint64_t at)
{
	const struct tsr_range_node *node = range->root, *best = NULL;

	while (node) {
		if (node->start >= at) {
			best = node;
			node = node->left;
		} else {
			node = node->right;
		}
	}
	return best;
}

int tsr_range_release(struct tsr_range *range, uint64_t at, uint64_t size)
{
	struct tsr_range_node *before, *after, *node;
	const struct tsr_range_node *next;

	if (!size || at < range->start || at >= range->end || range->end - at < size)
		return -EINVAL;
	if (containing(range, at))
		return -EINVAL;
	next = next_free(range, at);
	if (next && next->start - at < size)
		return -EINVAL;
	before = at > range->start ? containing(range, at - 1) : NULL;
	after = next && next->start - at == size ? detach(range, next->start) : NULL;
	if (before) {
		node = detach(range, before->start);
		node->size += size + (after ? after->size : 0);
		free(after);
	} else if (after) {
		node = after;
		node->start = at;
		node->size += size;
	} else {
		node = new_node(range, at, size);
		if (!node)
			return -ENOMEM;
	}
	insert(range, node);
	range->free += size;
	return 0;
}
