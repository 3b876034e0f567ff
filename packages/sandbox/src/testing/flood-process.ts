/**
 * Test program: a worker whose command prints a lot. Prints the growth of its memory and the end of the command. Arguments: state directory,
 * bwrap, uid, workspace, line, output limit, and `result` or `writer` as the receiver of the output.
 */
import { openSandbox } from '../open-sandbox.ts';

const [stateDir = '', bwrapPath = '', uid = '', path = '', line = '', limit = '', way = ''] = process.argv.slice(2);
await using sandbox = await openSandbox({ policy: 'require', allowUnsandboxed: false, stateDir, bwrapPath });
const workspace = { id: 'run_flood', path, uid: Number(uid), gid: Number(uid) };
let taken = 0;
const output = {
  write(_stream: 'stdout' | 'stderr', chunk: Buffer) {
    taken += chunk.length;
  },
};
const run = (text: string, output_bytes: number) =>
  sandbox.run({
    output: way === 'writer' ? output : undefined,
    ...{ workspace, limits: { output_bytes }, signal: new AbortController().signal },
    argv: ['/bin/bash', '-c', text],
  });
/** V8 frees buffers only once there are 64 MiB of them and more, at a moment of its choice. What counts is the memory that the worker holds. */
const held = (): number => {
  globalThis.gc?.({ type: 'minor' });
  return process.memoryUsage.rss();
};
await run('head -c 128M /dev/zero', 2 ** 27);
taken = 0;
const before = held();
let peak = before;
const timer = setInterval(() => {
  peak = Math.max(peak, held());
}, 10);
const { end, stdout } = await run(line, Number(limit));
clearInterval(timer);
process.stdout.write(
  JSON.stringify({ grown: peak - before, end, bytes: stdout.bytes, kept: stdout.text.length, taken }),
);
