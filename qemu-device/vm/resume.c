// SPDX-License-Identifier: MIT
/*
 * resume NANOSECONDS SEED: give a guest that was restored from a snapshot the time and randomness
 * of its own.
 *
 * All guests of one snapshot wake with the same clock and the same random state. NANOSECONDS is the
 * time since 1970; SEED is 64 hexadecimal digits that the host has drawn for this guest. The
 * kernel's generator is given the seed and told to use it from the next byte on. Status 0 only if
 * all of that was done.
 */
#include <fcntl.h>
#include <linux/random.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define SEED_BYTES 32

static int parse_seed(const char *text, unsigned char seed[SEED_BYTES])
{
	unsigned int byte;
	int i;

	if (strlen(text) != 2 * SEED_BYTES)
		return -1;
	for (i = 0; i < SEED_BYTES; i++) {
		if (sscanf(text + 2 * i, "%2x", &byte) != 1)
			return -1;
		seed[i] = byte;
	}
	return 0;
}

static int set_time(const char *text)
{
	long long ns = strtoll(text, NULL, 10);
	struct timespec now = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

	return ns > 0 ? clock_settime(CLOCK_REALTIME, &now) : -1;
}

static int add_randomness(const unsigned char seed[SEED_BYTES])
{
	struct {
		struct rand_pool_info info;
		unsigned char bytes[SEED_BYTES];
	} pool = { .info = { .entropy_count = SEED_BYTES * 8, .buf_size = SEED_BYTES } };
	int fd = open("/dev/urandom", O_RDWR);

	memcpy(pool.info.buf, seed, SEED_BYTES);
	return fd < 0 || ioctl(fd, RNDADDENTROPY, &pool) || ioctl(fd, RNDRESEEDCRNG) ? -1 : 0;
}

int main(int argc, char **argv)
{
	unsigned char seed[SEED_BYTES];

	if (argc != 3 || parse_seed(argv[2], seed)) {
		fprintf(stderr, "usage: resume NANOSECONDS SEED (of %d digits)\n", 2 * SEED_BYTES);
		return 2;
	}
	if (set_time(argv[1])) {
		perror("resume: the clock");
		return 1;
	}
	if (add_randomness(seed)) {
		perror("resume: the random generator");
		return 1;
	}
	return 0;
}
