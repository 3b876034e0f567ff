#ifndef GREET_H
#define GREET_H
#include "words.h"
void greet(const char *name);
#endif
