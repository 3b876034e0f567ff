#include <stdio.h>
#include <string.h>

#include "textbuf.h"

#define CHECK(what) do { if (!(what)) { printf("failed: %s\n", #what); return 1; } } while (0)

int main(void) {
  struct textbuf buf;
  CHECK(textbuf_init(&buf) == 0);
  CHECK(textbuf_append(&buf, "hello", 5) == 0);
  CHECK(strcmp(buf.data, "hello") == 0);
  CHECK(textbuf_insert(&buf, 0, "oh ", 3) == 0);
  CHECK(strcmp(buf.data, "oh hello") == 0);
  CHECK(buf.length == 8);
  textbuf_free(&buf);
  printf("ok\n");
  return 0;
}
