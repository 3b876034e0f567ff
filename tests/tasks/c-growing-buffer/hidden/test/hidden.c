#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "textbuf.h"

#define CHECK(what) do { if (!(what)) { printf("failed: %s (line %d)\n", #what, __LINE__); exit(1); } } while (0)

static const char guard[8] = "GUARDED";
static size_t last_size;
static char *last;
static int fails;

static void *guarded(void *old, size_t size) {
  if (fails) return NULL;
  char *fresh = malloc(size + sizeof guard);
  if (fresh == NULL) return NULL;
  memset(fresh, '#', size);
  if (old != NULL) memcpy(fresh, old, last_size < size ? last_size : size);
  memcpy(fresh + size, guard, sizeof guard);
  free(old);
  last = fresh;
  last_size = size;
  return fresh;
}

static void check(struct textbuf *buf, const char *expected) {
  CHECK(last == buf->data && memcmp(last + last_size, guard, sizeof guard) == 0);
  CHECK(buf->length == strlen(expected) && strcmp(buf->data, expected) == 0);
}

int main(void) {
  textbuf_realloc = guarded;
  struct textbuf buf;
  char expected[400] = "";
  CHECK(textbuf_init(&buf) == 0);
  for (int n = 0; n < 300; n++) {
    char c = 'a' + n % 26;
    CHECK(textbuf_append(&buf, &c, 1) == 0);
    expected[n] = c;
    check(&buf, expected);
  }
  textbuf_free(&buf);

  CHECK(textbuf_init(&buf) == 0);
  CHECK(textbuf_append(&buf, "0123456789", 10) == 0);
  CHECK(textbuf_insert(&buf, 2, "ab", 2) == 0);
  check(&buf, "01ab23456789");
  CHECK(textbuf_insert(&buf, 12, "abcd", 4) == 0);
  check(&buf, "01ab23456789abcd");

  fails = 1;
  CHECK(textbuf_append(&buf, "0123456789012345678901234567890", 31) == -1);
  check(&buf, "01ab23456789abcd");
  CHECK(textbuf_append(&buf, "x", SIZE_MAX - 4) == -1);
  CHECK(textbuf_append(&buf, "x", SIZE_MAX) == -1);
  check(&buf, "01ab23456789abcd");
  fails = 0;
  CHECK(textbuf_append(&buf, buf.data, buf.length) == 0);
  check(&buf, "01ab23456789abcd01ab23456789abcd");
  textbuf_free(&buf);
  printf("ok\n");
  return 0;
}
