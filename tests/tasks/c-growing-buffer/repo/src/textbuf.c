#include "textbuf.h"

#include <stdlib.h>
#include <string.h>

void *(*textbuf_realloc)(void *, size_t) = realloc;

static int reserve(struct textbuf *buf, size_t length) {
  if (length <= buf->capacity) return 0;
  size_t capacity = buf->capacity * 2;
  if (capacity < length) capacity = length;
  buf->data = textbuf_realloc(buf->data, capacity);
  if (buf->data == NULL) return -1;
  buf->capacity = capacity;
  return 0;
}

int textbuf_init(struct textbuf *buf) {
  buf->data = NULL;
  buf->length = 0;
  buf->capacity = 0;
  if (reserve(buf, 16) != 0) return -1;
  buf->data[0] = '\0';
  return 0;
}

int textbuf_append(struct textbuf *buf, const char *text, size_t length) {
  return textbuf_insert(buf, buf->length, text, length);
}

int textbuf_insert(struct textbuf *buf, size_t at, const char *text, size_t length) {
  if (at > buf->length) at = buf->length;
  if (reserve(buf, buf->length + length) != 0) return -1;
  memcpy(buf->data + at + length, buf->data + at, buf->length - at + 1);
  memcpy(buf->data + at, text, length);
  buf->length += length;
  return 0;
}

void textbuf_free(struct textbuf *buf) {
  free(buf->data);
  buf->data = NULL;
  buf->length = buf->capacity = 0;
}
