import { edit, read, readAll, run } from '../expert.ts';
import { expectExit, found, part } from '../reading.ts';
import { defineTask } from '../task.ts';

const file = 'src/textbuf.c';
const append = `if (reserve(buf, buf->length + length) != 0) return -1;`;

export const task = defineTask({
  kind: 'bug',
  language: 'C',
  needs: ['cc', 'make'],
  prompt:
    'A tool that uses textbuf crashes now and then: exactly when a text has 16, 32, 64 … bytes, and sometimes after an insert in the middle. Please find all memory errors in src/textbuf.c, also when memory runs out (the header says what should happen), for absurd lengths, and when a buffer is appended to itself (text points into data; the text of the buffer before the call counts). The interface must stay.',
  tests: 'make test',
  check: 'cc -std=c11 -O1 -Isrc -o /tmp/hidden src/textbuf.c test/hidden.c && timeout 20 /tmp/hidden && make -s test',
  wrong: {
    'a byte more': [
      { file, from: append, to: 'if (reserve(buf, buf->length + length + 1) != 0) return -1;' },
      { file, from: 'memcpy(buf->data + at + length, buf', to: 'memmove(buf->data + at + length, buf' },
    ],
    'a larger start': [
      { file, from: 'if (reserve(buf, 16) != 0)', to: 'if (reserve(buf, 4096) != 0)' },
      { file, from: 'memcpy(buf->data + at + length, buf', to: 'memmove(buf->data + at + length, buf' },
    ],
  },
  *expert() {
    const [header = '', code = ''] = yield* readAll('src/textbuf.h', file);
    found(header, /(the text is then unchanged)/);
    yield* run(`cat > /tmp/t.c <<'END'
#include "textbuf.h"
#include <stdio.h>
int main(void) { struct textbuf b; textbuf_init(&b); textbuf_append(&b, "0123456789012345", 16); printf("%zu of %zu\\n", b.length, b.capacity); }
END
cc -Isrc -o /tmp/t /tmp/t.c src/textbuf.c && /tmp/t`);
    yield* edit(
      file,
      part(code, 'buf->data = textbuf_realloc', 'if (buf->data == NULL)'),
      '  char *data = textbuf_realloc(buf->data, capacity);\n  if (data == NULL) return -1;\n  buf->data = data;',
    );
    yield* edit(
      file,
      part(code, 'size_t capacity = buf->capacity * 2'),
      '  size_t capacity = buf->capacity > SIZE_MAX / 2 ? SIZE_MAX : buf->capacity * 2;',
    );
    yield* edit(
      file,
      part(code, append, 'memcpy(buf->data + at, text'),
      `  if (length > SIZE_MAX - buf->length - 1) return -1;
  /* The text may be a part of the buffer, which moves. */
  char *copy = NULL;
  if (length > 0 && (uintptr_t)text >= (uintptr_t)buf->data && (uintptr_t)text <= (uintptr_t)(buf->data + buf->length)) {
    copy = malloc(length);
    if (copy == NULL) return -1;
    memcpy(copy, text, length);
    text = copy;
  }
  if (reserve(buf, buf->length + length + 1) != 0) {
    free(copy);
    return -1;
  }
  memmove(buf->data + at + length, buf->data + at, buf->length - at + 1);
  memcpy(buf->data + at, text, length);
  free(copy);`,
    );
    yield* edit(file, part(code, '#include <stdlib.h>'), '#include <stdint.h>\n#include <stdlib.h>');
    const tests = yield* read('test/test.c');
    const free = part(tests, 'textbuf_free(&buf);');
    yield* edit(
      'test/test.c',
      free,
      `  CHECK(textbuf_append(&buf, "12345678", 8) == 0);
  CHECK(buf.capacity > buf.length);
  CHECK(textbuf_append(&buf, buf.data, buf.length) == 0);
  CHECK(strcmp(buf.data, "oh hello12345678oh hello12345678") == 0);
${free}`,
    );
    expectExit(yield* run('make test'), 0);
    yield* run('git diff --stat');
    return 'The NUL has its byte now, parts that overlap are moved, a failed realloc keeps the text, lengths cannot overflow, and a buffer can be appended to itself. Tests pass.';
  },
});
