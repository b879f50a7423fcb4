/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "state_io.h"

void tsr_stream_check(struct tsr_stream *s, bool held, const char *what)
{
	if (!held && s->loading && !s->wrong)
		s->wrong = what;
}

void tsr_stream_bytes(struct tsr_stream *s, void *data, size_t n)
{
	bool fits = n <= s->size && s->pos <= s->size - n;

	if (s->field)
		s->field(s->opaque, s->pos, n);
	if (s->loading && fits)
		memcpy(data, s->buf + s->pos, n);
	else if (s->loading)
		memset(data, 0, n);
	else if (fits)
		memcpy(s->buf + s->pos, data, n);
	tsr_stream_check(s, fits, "it ends too early");
	s->pos += n;
}

void tsr_stream_bool(struct tsr_stream *s, bool *field)
{
	uint8_t byte = *field;

	TSR_VISIT(s, byte);
	tsr_stream_check(s, byte <= 1, "a truth value");
	*field = byte == 1;
}
