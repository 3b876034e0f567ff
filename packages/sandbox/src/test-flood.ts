/** Test program: a worker whose command prints much. Prints by how much its memory grew, and how the command ended. Arguments: state directory, bwrap, uid, workspace, line, output limit. */
import { openSandbox } from './open-sandbox.ts';

const [stateDir = '', bwrapPath = '', uid = '', path = '', line = '', limit = ''] = process.argv.slice(2);
await using sandbox = await openSandbox({ policy: 'require', allowUnsandboxed: false, stateDir, bwrapPath });
const workspace = { id: 'run_flood', path, uid: Number(uid), gid: Number(uid) };
const run = (text: string, output_bytes: number) =>
  sandbox.run({
    ...{ workspace, limits: { output_bytes }, signal: new AbortController().signal },
    argv: ['/bin/bash', '-c', text],
  });
await run('head -c 1M /dev/zero', 2 ** 20);
const before = process.memoryUsage.rss();
let peak = before;
const timer = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage.rss());
}, 10);
const { end, stdout } = await run(line, Number(limit));
clearInterval(timer);
process.stdout.write(JSON.stringify({ grown: peak - before, end, bytes: stdout.bytes, kept: stdout.text.length }));
