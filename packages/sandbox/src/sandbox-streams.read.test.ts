import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useTestHost } from './testing/host.ts';

const { host } = useTestHost();
const signal = new AbortController().signal;
const mib = 1024 * 1024;

test('both streams become one, in the order in which they are written', async () => {
  const workspace = host.makeWorkspace();
  const script = 'for i in {1..200}; do echo "out $i"; echo "err $i" >&2; done; exit 3';
  const argv = ['/bin/bash', '-c', script] as const;
  const { end, stdout, stderr } = await host.sandbox.run({ workspace, argv, streams: 'combined', signal });
  const expected = Array.from({ length: 200 }, (_, index) => `out ${index + 1}\nerr ${index + 1}\n`).join('');
  expect(stdout.text).toBe(expected);
  expect([stderr.bytes, end]).toEqual([0, { status: 'exited', exit_code: 3, signal: null }]);
  const missing = await host.sandbox.run({ workspace, argv: ['no-such-program'], streams: 'combined', signal });
  expect(missing.end).toMatchObject({ exit_code: 127 });
  expect(missing.stdout.text).toContain('no-such-program');
});

test('a command keeps as much of its output as asked, through a filter', async () => {
  const workspace = host.makeWorkspace();
  const run = (kept_bytes: number) =>
    host.sandbox.run({
      ...{ workspace, signal, kept_bytes },
      argv: ['/bin/bash', '-c', 'head -c 12M /dev/zero | tr "\\0" x; echo end'],
      limits: { output_bytes: 20 * mib },
      filter: () => ({
        push: (chunk) => Buffer.from(chunk.toString('latin1').replaceAll('x', 'y')),
        end: () => Buffer.alloc(0),
      }),
    });
  const whole = await run(16 * mib);
  expect([whole.stdout.truncated, whole.stdout.text === `${'y'.repeat(12 * mib)}end\n`]).toEqual([false, true]);
  const part = await run(2 * mib);
  expect(part.stdout).toMatchObject({ truncated: true, bytes: 12 * mib + 4 });
  expect(part.stdout.text).toMatch(/^y+\n\[… \d+ bytes omitted …\]\ny+end\n$/);
  for (const kept_bytes of [0, -1, 1.5, 65 * mib]) {
    await expect(run(kept_bytes)).rejects.toMatchObject({ code: 'ECOMMANDINVALID' });
  }
});

test('what a filter holds is shown once a command is silent, while it still runs', async () => {
  const workspace = host.makeWorkspace();
  const seen = Promise.withResolvers<void>();
  let shown = '';
  const argv = ['/bin/bash', '-c', 'printf "ready? t"; until [ -e go ]; do sleep 0.05; done; printf oken'] as const;
  const running = host.sandbox.run({
    ...{ workspace, argv, signal },
    filter: () => {
      let held = '';
      const take = (most: number) => {
        const out = held.slice(0, held.length - most);
        held = held.slice(out.length);
        return Buffer.from(out);
      };
      return {
        push(chunk) {
          held += chunk.toString();
          return take(1);
        },
        rest: () => take(0),
        end: () => take(0),
      };
    },
    watch: {
      write(_, chunk) {
        shown += chunk.toString();
        if (shown.endsWith('t')) seen.resolve();
      },
    },
  });
  await seen.promise;
  writeFileSync(join(workspace.path, 'go'), '');
  const { stdout } = await running;
  expect([stdout.text, shown]).toEqual(['ready? token', 'ready? token']);
});

test('the output of commands that print at once stays apart', async () => {
  const print = async (letter: string) => {
    const argv = ['/bin/bash', '-c', `head -c 4M /dev/zero | tr "\\0" ${letter} | tee /dev/stderr`] as const;
    const workspace = host.makeWorkspace();
    const { stdout, stderr } = await host.sandbox.run({ workspace, argv, kept_bytes: 8 * mib, signal });
    return [stdout, stderr].map(({ text }) => text === letter.repeat(4 * mib));
  };
  expect(await Promise.all([...'abcd'].map(print))).toEqual(Array.from({ length: 4 }, () => [true, true]));
});

test('code of any size reaches a program by its standard input', async () => {
  const workspace = host.makeWorkspace();
  const stdin = `#${'x'.repeat(3 * mib)}\necho done\n`;
  const { stdout } = await host.sandbox.run({ workspace, argv: ['/bin/bash'], stdin, signal });
  expect(stdout.text).toBe('done\n');
});

test('arguments and variables reach a program without a shell', async () => {
  const workspace = host.makeWorkspace();
  const argv = ['printenv', 'VALUE'] as const;
  const env = { VALUE: '$(id) `id` "quoted" \n *' };
  const { stdout } = await host.sandbox.run({ workspace, argv, env, streams: 'combined', signal });
  expect(stdout.text).toBe(`${env.VALUE}\n`);
});
