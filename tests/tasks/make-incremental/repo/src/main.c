#include "greet.h"

int main(int count, char **words) {
  for (int at = 1; at < count; at++) greet(words[at]);
  return 0;
}
