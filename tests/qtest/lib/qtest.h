/* SPDX-License-Identifier: MIT */
/*
 * QEMU without a guest: start the binary that TSR_QEMU names, with its processor standing still,
 * and read and write memory, ports and the clock from the test, through QEMU's qtest protocol; and
 * talk QMP to it.
 *
 * Nothing here returns errors: when QEMU dies, or does not answer within QTEST_TIMEOUT_MS, the test
 * program says so in KTAP and ends. A refused QMP command is a result (see qtest_qmp()).
 */
#ifndef TSR_QTEST_H
#define TSR_QTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QTEST_TIMEOUT_MS 20000

struct qtest;

/*
 * Start a machine with the given further arguments, blank-separated (printf style): a q35 with 128
 * MiB, no default devices, and the qtest accelerator unless they say otherwise.
 */
__attribute__((format(printf, 1, 2))) struct qtest *qtest_start(const char *args, ...);
/*
 * As qtest_start(), but QEMU is expected to refuse and exit. Returns its exit status. @text is its
 * output, cut to @size.
 */
__attribute__((format(printf, 3, 4))) int qtest_start_refused(char *text, size_t size,
							      const char *args, ...);
/* End the machine; anything but a clean exit is recorded as a failed check. */
void qtest_stop(struct qtest *q);

/* Threads of the QEMU process. */
unsigned int qtest_threads(struct qtest *q);
/* Processor time of all its threads in milliseconds; memory that it has in RAM, in MiB. */
double qtest_processor_ms(struct qtest *q);
unsigned int qtest_resident_mib(struct qtest *q);
/* Bytes that its main thread has written to files and sockets. */
uint64_t qtest_main_written(struct qtest *q);

/* Guest-physical memory as the processor sees it. */
uint32_t qtest_readl(struct qtest *q, uint64_t addr);
uint64_t qtest_readq(struct qtest *q, uint64_t addr);
uint64_t qtest_read_width(struct qtest *q, uint64_t addr, unsigned int bytes);
void qtest_writel(struct qtest *q, uint64_t addr, uint32_t value);
void qtest_writeq(struct qtest *q, uint64_t addr, uint64_t value);
void qtest_write_width(struct qtest *q, uint64_t addr, uint64_t value, unsigned int bytes);
void qtest_read(struct qtest *q, uint64_t addr, void *data, size_t size);
void qtest_write(struct qtest *q, uint64_t addr, const void *data, size_t size);
void qtest_memset(struct qtest *q, uint64_t addr, uint8_t value, size_t size);

/* Ports. */
uint32_t qtest_in(struct qtest *q, uint16_t port, unsigned int bytes);
void qtest_out(struct qtest *q, uint16_t port, uint32_t value, unsigned int bytes);

/* Let @ns pass on the virtual clock, which otherwise stands still. Returns its new value. */
uint64_t qtest_clock_step(struct qtest *q, uint64_t ns);

/*
 * Send one QMP command, such as {"execute":"stop"} (printf style), and return the answer, one line
 * of JSON; it is valid until the next command. qtest_ok() tells whether it is a success;
 * qtest_cmd() expects one.
 */
__attribute__((format(printf, 2, 3))) const char *qtest_qmp(struct qtest *q, const char *fmt, ...);
__attribute__((format(printf, 2, 3))) const char *qtest_cmd(struct qtest *q, const char *fmt, ...);
bool qtest_ok(const char *answer);
/* A command of the human monitor; returns its output as JSON holds it. */
__attribute__((format(printf, 2, 3))) const char *qtest_hmp(struct qtest *q, const char *fmt, ...);
/* Wait for the event of this name; returns its line of JSON. Earlier events count if no other wait
 * has passed over them. */
const char *qtest_event(struct qtest *q, const char *name);

/* Sleep for a millisecond of real time; false when @*left, counted down from a number of
 * milliseconds, is used up. */
bool qtest_patience(int *left);

#endif
