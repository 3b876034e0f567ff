import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { useTestHost } from './testing/host.ts';

const { host } = useTestHost();
const size = { columns: 90, rows: 20 };
const never = new AbortController().signal;

/** Runs a line of bash in a terminal. `talk` types into it, after each awaited output. */
async function inTerminal(
  script: string,
  talk: (stdin: Writable, until: (text: string) => Promise<void>) => Promise<void> | void = () => {},
) {
  let printed = '';
  let look = () => {};
  let end = () => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  const until = (text: string) =>
    Promise.race([
      ended,
      new Promise<void>((resolve) => {
        look = () => void (printed.includes(text) && resolve());
        look();
      }),
    ]);
  let talking: Promise<void> | undefined;
  const result = await host.sandbox.run({
    workspace: host.makeWorkspace(),
    argv: ['/bin/bash', '-c', script],
    terminal: size,
    input: (stdin) => {
      stdin.on('error', () => {});
      talking = Promise.resolve(talk(stdin, until));
    },
    watch: {
      write(_stream, chunk) {
        printed += chunk.toString();
        look();
      },
    },
    limits: { wall_ms: 30_000 },
    signal: never,
  });
  end();
  await talking;
  return {
    end: result.end,
    text: result.stdout.text.replaceAll('\r\n', '\n'),
    bytes: result.stdout.bytes,
    stderr: result.stderr.text,
  };
}

test('a command in a terminal sees one of its size, and ends as it would without', async () => {
  const { end, text } = await inTerminal(
    'test -t 0 && test -t 1 && test -t 2; echo "$?"; stty size; echo $TERM; exit 7',
  );
  expect([text, end]).toEqual(['0\n20 90\ndumb\n', { status: 'exited', exit_code: 7, signal: null }]);
  expect((await inTerminal('kill -9 $$')).end).toMatchObject({ status: 'exited', exit_code: 137 });
  expect((await inTerminal('exec no-such-program')).end).toMatchObject({ exit_code: 127 });
});

test('typed lines are echoed and answered, Ctrl-C interrupts, and the end of the input is Ctrl-D', async () => {
  const { end, text } = await inTerminal(
    'read -p "name? " name; echo "hello $name"; sleep 60; cat',
    async (stdin, until) => {
      await until('name? ');
      stdin.write('Ann\r');
      await until('hello Ann');
      stdin.write('\u0003');
    },
  );
  expect(text).toBe('name? Ann\nhello Ann\n^C');
  expect(end).toMatchObject({ exit_code: 130 });
  const ended = await inTerminal('cat; echo done', async (stdin, until) => {
    stdin.write('one\r');
    await until('one\r\none');
    stdin.end();
  });
  expect(ended.text).toBe('one\none\ndone\n');
});

test('password prompts do not echo', async () => {
  const { text } = await inTerminal(
    'read -s -p "word? " word; echo; printf "%s" "$word" | wc -c',
    async (stdin, until) => {
      await until('word? ');
      stdin.write('secret\r');
    },
  );
  expect(text).toBe('word? \n6\n');
});

test('a command that prints without reading is not held up by a full input, and the other way round', async () => {
  const line = `${'x'.repeat(1000)}\r`;
  const { end, bytes } = await inTerminal(
    'stty -echo; head -c 3000000 /dev/zero | tr "\\0" y; echo; cat > /dev/null',
    async (stdin) => {
      for (let sent = 0; sent < 300; sent++)
        if (!stdin.write(line)) await Promise.race([once(stdin, 'drain'), once(stdin, 'close')]);
      stdin.end();
    },
  );
  expect(end).toMatchObject({ status: 'exited', exit_code: 0 });
  expect(bytes).toBeGreaterThan(3_000_000);
});

test('what a command leaves behind ends with its terminal', async () => {
  const { end, text } = await inTerminal('trap "" HUP; sleep 86399 & setsid sleep 86398 & echo started');
  expect([text, end]).toEqual(['started\n', { status: 'exited', exit_code: 0, signal: null }]);
});

test('a command that stops and continues keeps its terminal', async () => {
  const { end, text } = await inTerminal(
    '(sleep 0.3; kill -CONT $$) & kill -STOP $$; read line; echo "got $line"',
    async (stdin) => {
      stdin.write('one\r');
    },
  );
  expect([text, end]).toEqual(['one\ngot one\n', { status: 'exited', exit_code: 0, signal: null }]);
});

test('another terminal of the host is not reachable', async () => {
  const { text } = await inTerminal('ls /dev/pts | sort | tr "\\n" " "; echo > /dev/pts/1 && echo written; echo end');
  expect(text).toContain('0 ptmx');
  expect(text).not.toContain('written\n');
});
