import type { CreateRun } from '@holdpoint/contract/wire';
import { bash, plan } from '../../harness/runs.ts';
import type { Cases } from './form.ts';

type Plan = NonNullable<CreateRun['plan']>;

/** Expensive work within a model's requests. */
export interface HeavyWork {
  name: string;
  plan: Plan;
  /** Request to the API once the run has ended. */
  look?: 'diff' | 'patch' | 'files';
  /** Tool to hold: the worker writes a preview. */
  hold?: string;
}

const tool = (name: string, args: Record<string, string | number | boolean>) => ({ tool: name, args });
const edit = (old_string: string, new_string: string, more: Record<string, boolean> = {}) =>
  tool('edit', { path: 'f.txt', old_string, new_string, ...more });
const file = (command: string) => bash(`${command} > f.txt`);
/** A file of equal bytes. */
const same = (bytes: number) => file(`head -c ${bytes} /dev/zero | tr '\\0' a`);
const mb = 1_000_000;

/** The first step makes the file, the others work on the file. A refused step is as good as a finished step. */
const steps = (...groups: Parameters<typeof plan>): Plan => ({
  groups: plan(...groups).groups.map((group) => ({ ...group, on_error: 'continue' as const })),
});

export const heavyWork: Cases<HeavyWork> = {
  bounded: [
    {
      name: 'an edit of 20 KB that overlaps itself everywhere in 4 MB',
      plan: steps([same(4 * mb)], [edit('a'.repeat(20_000), 'b')]),
    },
    {
      name: 'an edit of 40,000 lines that almost match everywhere',
      plan: steps([file('yes x | head -n 400000')], [edit(`${'x\n'.repeat(40_000)}y`, 'z')]),
    },
    {
      name: 'lines of 10 MB read in parts',
      plan: steps(
        [file('yes "" | head -c 10000000')],
        [tool('read_file', { path: 'f.txt', offset: 9_000_000 })],
        [tool('read_file', { path: 'f.txt' })],
      ),
    },
  ],
  full: [
    {
      name: 'an edit of 100 KB that overlaps itself everywhere in 8 MB',
      plan: steps([same(8 * mb)], [edit('a'.repeat(100_000), 'b')]),
    },
    {
      name: 'an edit whose lines differ in white space everywhere',
      plan: steps([file('yes "x  y" | head -n 1000000')], [edit(`${'x y\n'.repeat(45_000)}y`, 'z')]),
    },
    {
      name: 'an edit of one line that almost matches everywhere in a line of 10 MB',
      plan: steps([same(10 * mb)], [edit(`${'a'.repeat(50_000)}b${'a'.repeat(50_000)}`, 'z')]),
    },
    { name: 'ten million replacements', plan: steps([same(10 * mb)], [edit('a', 'b', { replace_all: true })]) },
    {
      name: 'replacements that would fill the memory',
      plan: steps([same(10 * mb)], [edit('a', 'b'.repeat(100_000), { replace_all: true })]),
    },
    {
      name: 'a replacement in each of 2,000,000 lines',
      plan: steps([file('seq 1 1400000')], [edit('1', 'one', { replace_all: true })]),
    },
    {
      name: 'a preview of a file of 200,000 lines that is rewritten',
      hold: 'write_file',
      plan: steps(
        [file('seq 1 1300000')],
        [
          tool('write_file', {
            path: 'f.txt',
            content: Array.from({ length: 200_000 }, (_, n) => `line ${n}`).join('\n'),
          }),
        ],
      ),
    },
    {
      name: 'a preview of an edit of each line',
      hold: 'edit',
      plan: steps([file('seq 1 1300000')], [edit('1', 'one', { replace_all: true })]),
    },
    {
      name: 'a search with unusual output',
      plan: steps(
        [
          bash(
            "for i in $(seq 200); do mkdir -p $(printf 'd%.0s' $(seq 200))/$i; echo x > $(printf 'd%.0s' $(seq 200))/$i/f; done",
          ),
        ],
        [tool('grep', { pattern: 'x', output_mode: 'count' })],
        [tool('grep', { pattern: 'x', output_mode: 'content', context: 10 })],
      ),
    },
    {
      name: 'a directory of 100,000 entries',
      look: 'files',
      plan: steps(
        [bash('mkdir d && cd d && seq 1 100000 | xargs touch')],
        [tool('list_directory', { path: 'd' })],
        [tool('glob', { pattern: '**' })],
        [bash('touch d/again')],
      ),
    },
    {
      name: 'a tree of 60,000 small files',
      look: 'diff',
      plan: steps(
        [
          bash(
            'for i in $(seq 600); do mkdir $i; (cd $i; seq 100 | xargs -n 100 touch; for j in 1 2 3; do echo $i.$j > $j; done); done',
          ),
        ],
        [bash('rm -r ?')],
      ),
    },
    {
      name: 'a diff of 5,000,000 lines',
      look: 'diff',
      plan: steps([bash('for i in $(seq 100); do seq 1 60000 > $i.txt; done')]),
    },
    {
      name: 'a patch of 60 MB',
      look: 'patch',
      plan: steps([bash('for i in $(seq 6); do seq 1 1300000 > $i.txt; done')]),
    },
    {
      name: 'files of 60 MB',
      plan: steps(
        [bash('for i in 1 2 3; do head -c 60000000 /dev/urandom > $i.bin; done')],
        [bash('head -c 3900000 /dev/urandom > 4.bin')],
      ),
    },
    {
      name: 'output of 10 MB in single bytes, and in one line',
      plan: steps([bash('head -c 9000000 /dev/zero')], [bash("yes '' | head -n 2000000")]),
    },
  ],
};

/** Answers of a model, as its provider sends them. */
export const heavyAnswers: Cases<{ name: string; tool: string; args: () => string }> = {
  bounded: [
    {
      name: 'arguments of half a million values',
      tool: 'todo_write',
      args: () => `{"todos":[${Array.from({ length: 500_000 }, () => '{}').join(',')}]}`,
    },
  ],
  full: [
    {
      name: 'arguments with 100,000 unknown names',
      tool: 'read_file',
      args: () => JSON.stringify(Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`k${n}`, n]))),
    },
    {
      name: 'arguments nested 100,000 deep',
      tool: 'read_file',
      args: () => `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`,
    },
    { name: 'arguments that are not JSON', tool: 'read_file', args: () => '['.repeat(1_000_000) },
    { name: 'a tool with a name of 1 MB', tool: 'edit'.repeat(250_000), args: () => '{}' },
    { name: 'a pattern of many stars', tool: 'glob', args: () => JSON.stringify({ pattern: '*a'.repeat(400) }) },
    { name: 'an answer of 20 MB', tool: 'read_file', args: () => JSON.stringify({ path: 'x'.repeat(20_000_000) }) },
  ],
};
