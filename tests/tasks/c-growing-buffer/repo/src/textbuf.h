#ifndef TEXTBUF_H
#define TEXTBUF_H
#include <stddef.h>

/* A text that grows. `data` always ends with a NUL, which `length` does not count. */
struct textbuf {
  char *data;
  size_t length;
  size_t capacity;
};

/* Replaced in tests. */
extern void *(*textbuf_realloc)(void *, size_t);

/* These return 0, or -1 when there is no memory: the text is then unchanged. */
int textbuf_init(struct textbuf *buf);
int textbuf_append(struct textbuf *buf, const char *text, size_t length);
int textbuf_insert(struct textbuf *buf, size_t at, const char *text, size_t length);
void textbuf_free(struct textbuf *buf);
#endif
