/* SPDX-License-Identifier: MIT */
#include "gpu.h"

void tsr_irq_send(struct tsr_gpu *gpu, unsigned int cls)
{
	tsr_counter_global(&gpu->counters, TSR_GLOBAL_COUNTER_INTERRUPTS, 1);
	gpu->ops->interrupt(gpu->host, cls);
}

/* Whether the message of @cls is not sent now, on purpose. */
static bool withheld(struct tsr_gpu *gpu, unsigned int cls, uint64_t bits)
{
	return (tsr_inject_armed(gpu) || atomic_load(&gpu->hooked.gone)) &&
	       gpu->hooks->message(gpu, cls, bits);
}

/*
 * Send the message of @cls when @now has bits that @before had not. Outside the lock: a late
 * message is harmless.
 */
static void send_if_new(struct tsr_gpu *gpu, unsigned int cls, uint64_t before, uint64_t now)
{
	uint64_t args[2] = { cls, now & ~before };

	if (!args[1])
		return;
	tsr_trace(gpu, TSR_TRACE_INTERRUPT, args, 2);
	if (!withheld(gpu, cls, args[1]))
		tsr_irq_send(gpu, cls);
}

/* The checker wants to know for how long events stand. Interrupts' lock held. */
static void watch(struct tsr_gpu *gpu, unsigned int cls, uint64_t before, uint64_t now)
{
	if (gpu->cfg.check)
		gpu->hooks->irq(gpu, cls, before, now);
}

void tsr_irq_raise(struct tsr_gpu *gpu, unsigned int cls, uint64_t bits)
{
	struct tsr_irq *irq = &gpu->irq;
	uint64_t before, now;

	pthread_mutex_lock(&irq->lock);
	before = irq->rawstat[cls] & irq->mask[cls];
	irq->rawstat[cls] |= bits;
	now = irq->rawstat[cls] & irq->mask[cls];
	watch(gpu, cls, before, now);
	pthread_mutex_unlock(&irq->lock);
	send_if_new(gpu, cls, before, now);
}

void tsr_irq_clear(struct tsr_gpu *gpu, unsigned int cls, uint64_t bits)
{
	pthread_mutex_lock(&gpu->irq.lock);
	watch(gpu, cls, gpu->irq.rawstat[cls] & gpu->irq.mask[cls],
	      gpu->irq.rawstat[cls] & ~bits & gpu->irq.mask[cls]);
	gpu->irq.rawstat[cls] &= ~bits;
	pthread_mutex_unlock(&gpu->irq.lock);
}

void tsr_irq_set_mask(struct tsr_gpu *gpu, unsigned int cls, uint64_t which, uint64_t bits)
{
	struct tsr_irq *irq = &gpu->irq;
	uint64_t before, now;

	pthread_mutex_lock(&irq->lock);
	before = irq->rawstat[cls] & irq->mask[cls];
	irq->mask[cls] = (irq->mask[cls] & ~which) | (bits & which);
	now = irq->rawstat[cls] & irq->mask[cls];
	watch(gpu, cls, before, now);
	pthread_mutex_unlock(&irq->lock);
	send_if_new(gpu, cls, before, now);
}

uint64_t tsr_irq_rawstat(struct tsr_gpu *gpu, unsigned int cls)
{
	uint64_t value;

	pthread_mutex_lock(&gpu->irq.lock);
	value = gpu->irq.rawstat[cls];
	pthread_mutex_unlock(&gpu->irq.lock);
	return value;
}

uint64_t tsr_irq_mask(struct tsr_gpu *gpu, unsigned int cls)
{
	uint64_t value;

	pthread_mutex_lock(&gpu->irq.lock);
	value = gpu->irq.mask[cls];
	pthread_mutex_unlock(&gpu->irq.lock);
	return value;
}

void tsr_irq_reset(struct tsr_gpu *gpu)
{
	pthread_mutex_lock(&gpu->irq.lock);
	for (unsigned int cls = 0; cls < TSR_IRQ_CLASSES; cls++) {
		watch(gpu, cls, gpu->irq.rawstat[cls] & gpu->irq.mask[cls], 0);
		gpu->irq.rawstat[cls] = 0;
		gpu->irq.mask[cls] = 0;
	}
	pthread_mutex_unlock(&gpu->irq.lock);
}
