#ifndef WORDS_H
#define WORDS_H
#define MARK "!"
const char *hello(void);
#endif
