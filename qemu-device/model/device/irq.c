/* SPDX-License-Identifier: MIT */
#include "irq.h"
#include "tsr_regs.h"
#include "tsr_trace.h"

void tsr_irq_send(struct tsr_irq *irq, unsigned int cls)
{
	tsr_counter_global(irq->counters, TSR_GLOBAL_COUNTER_INTERRUPTS, 1);
	irq->ops->interrupt(irq->host, cls);
}

/* True if fault injection withholds the message of @cls. */
static bool withheld(struct tsr_irq *irq, unsigned int cls, uint64_t bits)
{
	return (atomic_load_explicit(&irq->hooked->armed, memory_order_relaxed) ||
		atomic_load(&irq->hooked->gone)) && irq->hooks->message(irq->gpu, cls, bits);
}

/*
 * Send the message of @cls when @now has bits that @before had not. Outside the lock: a late
 * message is harmless.
 */
static void send_if_new(struct tsr_irq *irq, unsigned int cls, uint64_t before, uint64_t now)
{
	uint64_t args[2] = { cls, now & ~before };

	if (!args[1])
		return;
	if (irq->ops->trace)
		irq->ops->trace(irq->host, TSR_TRACE_INTERRUPT, args, 2);
	if (!withheld(irq, cls, args[1]))
		tsr_irq_send(irq, cls);
}

/* The checker wants to know for how long events stand. Interrupts' lock held. */
static void watch(struct tsr_irq *irq, unsigned int cls, uint64_t before, uint64_t now)
{
	if (irq->check)
		irq->hooks->irq(irq->gpu, cls, before, now);
}

void tsr_irq_raise(struct tsr_irq *irq, unsigned int cls, uint64_t bits)
{
	uint64_t before, now;

	pthread_mutex_lock(&irq->lock);
	before = irq->rawstat[cls] & irq->mask[cls];
	irq->rawstat[cls] |= bits;
	now = irq->rawstat[cls] & irq->mask[cls];
	watch(irq, cls, before, now);
	pthread_mutex_unlock(&irq->lock);
	send_if_new(irq, cls, before, now);
}

void tsr_irq_clear(struct tsr_irq *irq, unsigned int cls, uint64_t bits)
{
	pthread_mutex_lock(&irq->lock);
	watch(irq, cls, irq->rawstat[cls] & irq->mask[cls],
	      irq->rawstat[cls] & ~bits & irq->mask[cls]);
	irq->rawstat[cls] &= ~bits;
	pthread_mutex_unlock(&irq->lock);
}

void tsr_irq_set_mask(struct tsr_irq *irq, unsigned int cls, uint64_t which, uint64_t bits)
{
	uint64_t before, now;

	pthread_mutex_lock(&irq->lock);
	before = irq->rawstat[cls] & irq->mask[cls];
	irq->mask[cls] = (irq->mask[cls] & ~which) | (bits & which);
	now = irq->rawstat[cls] & irq->mask[cls];
	watch(irq, cls, before, now);
	pthread_mutex_unlock(&irq->lock);
	send_if_new(irq, cls, before, now);
}

uint64_t tsr_irq_rawstat(struct tsr_irq *irq, unsigned int cls)
{
	uint64_t value;

	pthread_mutex_lock(&irq->lock);
	value = irq->rawstat[cls];
	pthread_mutex_unlock(&irq->lock);
	return value;
}

uint64_t tsr_irq_mask(struct tsr_irq *irq, unsigned int cls)
{
	uint64_t value;

	pthread_mutex_lock(&irq->lock);
	value = irq->mask[cls];
	pthread_mutex_unlock(&irq->lock);
	return value;
}

void tsr_irq_reset(struct tsr_irq *irq)
{
	pthread_mutex_lock(&irq->lock);
	for (unsigned int cls = 0; cls < TSR_IRQ_CLASSES; cls++) {
		watch(irq, cls, irq->rawstat[cls] & irq->mask[cls], 0);
		irq->rawstat[cls] = 0;
		irq->mask[cls] = 0;
	}
	pthread_mutex_unlock(&irq->lock);
}
