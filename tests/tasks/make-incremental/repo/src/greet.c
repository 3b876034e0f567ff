#include "greet.h"

#include <stdio.h>

void greet(const char *name) { printf("%s, %s%s\n", hello(), name, MARK); }
