/*
 * Every program of the sandbox where lines are tried. Writes down how it was started, by which line, and with which arguments:
 * "LINE\0COUNT\0ARGUMENT\0…". As a shell it becomes the real one.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char record[65536];

int main(int count, char **arguments) {
  const char *line = getenv("HP_LINE"), *path = arguments[0] ? arguments[0] : "";
  char kept[32] = "";
  int file = line ? -1 : open("/log/line", O_RDONLY);
  if (file >= 0 && read(file, kept, sizeof kept - 1) > 0) kept[strcspn(kept, "\n")] = 0;
  size_t used = (size_t)snprintf(record, sizeof record, "%s%c%d", line ? line : kept, 0, count) + 1;
  for (int at = 0; at < count && used + strlen(arguments[at]) + 1 < sizeof record; at += 1) {
    strcpy(record + used, arguments[at]);
    used += strlen(arguments[at]) + 1;
  }
  int log = open("/log/started", O_WRONLY | O_APPEND);
  if (log < 0 || write(log, record, used) != (ssize_t)used) return 125;
  const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
  if (!strcmp(name, "bash")) execv("/shells/bash", arguments);
  if (!strcmp(name, "sh") || !strcmp(name, "dash")) execv("/shells/dash", arguments);
  return 0;
}
