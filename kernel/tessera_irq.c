// SPDX-License-Identifier: GPL-2.0-only
/* Copyright 2026 The Tessera authors */

/**
 * DOC: Interrupts
 *
 * There is one MSI-X vector for each class: JOB, FAULT, WATCHDOG and HEAP with a bit
 * for each queue slot, GLOBAL, and DISPLAY with heads. The device sends a message when
 * a bit changes from 0 to 1. A handler therefore clears the bits that it has read
 * before it handles them. An event in between sends another message, and an earlier
 * event is found by the handler.
 *
 * Handlers only signal fences and start work items of a queue. They hold no reference
 * to it. Code that ends a queue removes it from its slot first and cancels its work
 * items afterwards.
 *
 * The WATCHDOG class stays masked, because tessera_watch.c polls by itself. GLOBAL
 * stays masked as well. It announces the end of a reset, of a stop or of an
 * invalidation. The code that starts one of these also waits for it, and nearly always
 * finds it complete at the first read.
 */

#include <linux/interrupt.h>
#include <linux/pci.h>

#include "tessera_device.h"
#include "tessera_irq.h"
#include "tessera_kms.h"
#include "tessera_queue.h"
#include "tessera_watch.h"

/* Without a name: nobody wants to hear of the class. */
static const char * const irq_name[TESSERA_NUM_IRQS] = {
	[TSR_IRQ_CLASS_JOB] = "tessera-job",
	[TSR_IRQ_CLASS_FAULT] = "tessera-fault",
	[TSR_IRQ_CLASS_HEAP] = "tessera-heap",
	[TSR_IRQ_CLASS_DISPLAY] = "tessera-display",
};

/* The last class is there with heads only. */
static unsigned int num_irqs(struct tessera_device *tdev)
{
	return TESSERA_NUM_IRQS - !(tdev->info.features & TSR_FEATURE_DISPLAY);
}

/* Read and clear the events of a class. A device that does not answer reads as all ones. */
static u64 irq_take(struct tessera_device *tdev, unsigned int class)
{
	u64 status = tessera_read64(tdev, TSR_REG_IRQ_STATUS(class));

	if (status == U64_MAX && !tessera_device_present(tdev))
		return 0;

	if (status)
		tessera_write64(tdev, TSR_REG_IRQ_CLEAR(class), status);

	return status;
}

static void queue_job_irq(struct tessera_queue *queue)
{
	/* The ring holds up to 1,024 jobs. The timeout check signals the rest. */
	if (tessera_queue_complete_some(queue))
		tessera_watch_now(queue);
}

static void queue_fault_irq(struct tessera_queue *queue)
{
	tessera_watch_now(queue);
}

static void queue_heap_irq(struct tessera_queue *queue)
{
	queue_work(queue->tdev->submit_wq, &queue->heap_work);
}

static void (*const queue_irq[TESSERA_NUM_IRQS])(struct tessera_queue *queue) = {
	[TSR_IRQ_CLASS_JOB] = queue_job_irq,
	[TSR_IRQ_CLASS_FAULT] = queue_fault_irq,
	[TSR_IRQ_CLASS_HEAP] = queue_heap_irq,
};

static irqreturn_t irq_handle(struct tessera_device *tdev, unsigned int class)
{
	u64 status = irq_take(tdev, class);
	unsigned long flags;

	if (!status)
		return IRQ_NONE;

	if (class == TSR_IRQ_CLASS_DISPLAY) {
		tessera_kms_irq(tdev, status);
		return IRQ_HANDLED;
	}

	spin_lock_irqsave(&tdev->slots.lock, flags);
	while (status) {
		struct tessera_queue *queue = tdev->slots.queue[__ffs64(status)];

		/* No queue: the event was on its way when the slot was given back. */
		if (queue)
			queue_irq[class](queue);
		status &= status - 1;
	}
	spin_unlock_irqrestore(&tdev->slots.lock, flags);

	return IRQ_HANDLED;
}

static irqreturn_t tessera_irq_handler(int irq, void *data)
{
	struct tessera_irq *context = data;
	irqreturn_t ret = IRQ_NONE;
	int cookie;

	if (tessera_enter(context->tdev, &cookie)) {
		ret = irq_handle(context->tdev, context->class);
		tessera_leave(context->tdev, cookie);
	}

	return ret;
}

/**
 * tessera_irq_look() - do what an interrupt would do
 * @tdev: device
 * @class: enum tsr_irq_class
 *
 * Because its message may have been lost: then its bits stay, and no event that sets them
 * again sends another one.
 */
void tessera_irq_look(struct tessera_device *tdev, unsigned int class)
{
	int cookie;

	if (tessera_enter(tdev, &cookie)) {
		irq_handle(tdev, class);
		tessera_leave(tdev, cookie);
	}
}

/**
 * tessera_irq_look_queues() - tessera_irq_look() for all that queues hear of
 * @tdev: device
 */
void tessera_irq_look_queues(struct tessera_device *tdev)
{
	unsigned int class;

	for (class = 0; class < TESSERA_NUM_IRQS; class++) {
		if (queue_irq[class])
			tessera_irq_look(tdev, class);
	}
}

/**
 * tessera_irq_init() - install the interrupt handlers
 * @tdev: device
 *
 * Nothing comes before tessera_irq_enable().
 *
 * Return: 0 or a negative error.
 */
int tessera_irq_init(struct tessera_device *tdev)
{
	unsigned int class, num = num_irqs(tdev);
	int ret;

	ret = pci_alloc_irq_vectors(tdev->pdev, num, num, PCI_IRQ_MSIX);
	if (ret < 0)
		return ret;

	for (class = 0; class < num; class++) {
		if (!irq_name[class])
			continue;
		tdev->irq[class].tdev = tdev;
		tdev->irq[class].class = class;
		tdev->irq[class].vector = pci_irq_vector(tdev->pdev, class);
		ret = request_irq(tdev->irq[class].vector, tessera_irq_handler, 0,
				  irq_name[class], &tdev->irq[class]);
		if (ret)
			goto err_free;
	}

	return 0;

err_free:
	while (class--) {
		if (irq_name[class])
			free_irq(tdev->irq[class].vector, &tdev->irq[class]);
	}
	pci_free_irq_vectors(tdev->pdev);
	return ret;
}

/**
 * tessera_irq_enable() - let events send messages
 * @tdev: device that has become bus master
 *
 * Events that were not cleared send theirs now, which those need that came while it was
 * not: their messages went nowhere.
 */
void tessera_irq_enable(struct tessera_device *tdev)
{
	unsigned int class;

	for (class = 0; class < num_irqs(tdev); class++) {
		tessera_write64(tdev, TSR_REG_IRQ_MASK(class), 0);
		if (class == TSR_IRQ_CLASS_DISPLAY)
			tessera_write64(tdev, TSR_REG_IRQ_MASK(class), tessera_kms_irq_mask(tdev));
		else if (irq_name[class])
			tessera_write64(tdev, TSR_REG_IRQ_MASK(class), U64_MAX);
	}
}

/**
 * tessera_irq_fini() - remove the interrupt handlers
 * @tdev: device
 */
void tessera_irq_fini(struct tessera_device *tdev)
{
	unsigned int class;

	for (class = 0; class < num_irqs(tdev); class++) {
		if (irq_name[class])
			free_irq(tdev->irq[class].vector, &tdev->irq[class]);
	}
	pci_free_irq_vectors(tdev->pdev);
}
