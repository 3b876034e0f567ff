import { edit, read, run, write } from '../expert.ts';
import { expectExit, found, part, textOf } from '../reading.ts';
import { defineTask } from '../task.ts';

export const task = defineTask({
  kind: 'bug',
  language: 'Make',
  needs: ['cc', 'make'],
  prompt:
    'After a change in a header make says that everything is up to date, so we always run make clean first. Please repair the Makefile: what depends on a header (what includes it, also through another header, also when headers are added or renamed) and on CFLAGS is built again, and nothing else is. `make install` from the README is missing (to $(PREFIX)/bin), and a file named test or clean must not confuse make. make -j has to work.',
  tests: 'make clean && make test',
  check: 'sh hidden.sh',
  wrong: {
    'every object by every header': [
      {
        file: 'Makefile',
        from: 'build/%.o: src/%.c\n',
        to: '.PHONY: test clean install\n\nbuild/%.o: src/%.c $(wildcard src/*.h)\n',
      },
      {
        file: 'Makefile',
        from: 'clean:\n',
        to: 'install: build/greeter\n\tmkdir -p $(PREFIX)/bin\n\tcp build/greeter $(PREFIX)/bin/\n\nclean:\n',
      },
    ],
    'always again': [
      {
        file: 'Makefile',
        from: 'build/%.o: src/%.c\n',
        to: 'FORCE:\n.PHONY: FORCE test clean\nbuild/%.o: src/%.c FORCE\n',
      },
    ],
  },
  *expert() {
    const file = textOf(yield* read('Makefile'));
    const sources = found(file, /SOURCES = (.*)/);
    yield* run('make test && touch src/words.h && make; cat src/*.h');
    yield* write(
      'Makefile',
      `CFLAGS ?= -O1
PREFIX ?= /usr/local
SOURCES = ${sources}
OBJECTS = $(SOURCES:src/%.c=build/%.o)

build/greeter: $(OBJECTS)
	$(CC) $(CFLAGS) -o $@ $^

# -MMD writes the headers of each object, -MP lets make go past a header that is gone.
build/%.o: src/%.c build/flags
	$(CC) $(CFLAGS) -MMD -MP -c -o $@ $<

# Changes only when the flags do.
build/flags: FORCE
	@mkdir -p build
	@echo '$(CC) $(CFLAGS)' | cmp -s - $@ || echo '$(CC) $(CFLAGS)' > $@

-include $(OBJECTS:.o=.d)

test: build/greeter
	sh test/run.sh

install: build/greeter
	mkdir -p $(PREFIX)/bin
	cp build/greeter $(PREFIX)/bin/

clean:
	rm -rf build

FORCE:

.PHONY: FORCE test install clean
`,
    );
    const tried = yield* run(
      'make clean && make -j4 build/greeter && make build/greeter && sleep 1.1 && touch src/words.h && make build/greeter && make test && make PREFIX=/tmp/out install && /tmp/out/bin/greeter Ada; git status --short',
    );
    found(tried, /(is up to date)/);
    found(tried, /(Hello, Ada!)/);
    expectExit(tried, 0);
    const readme = yield* read('README.md');
    const line = part(readme, '`make`');
    yield* edit(
      'README.md',
      line,
      `${line} Changed headers and flags build again what depends on them; \`make clean\` is not needed before.`,
    );
    return 'The compiler writes what each object includes, a file has the flags, and make reads both. install is there, test and clean are no files.';
  },
});
