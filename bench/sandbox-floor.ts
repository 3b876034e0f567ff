/** Test program: runs bare `bash -c true` from a small process, once for each message, and answers with the milliseconds. */
import { spawn } from 'node:child_process';

process.on('message', () => {
  const started = performance.now();
  const subprocess = spawn('/bin/bash', ['-c', 'true'], { stdio: ['ignore', 'pipe', 'pipe'] });
  subprocess.stdout.resume();
  subprocess.stderr.resume();
  subprocess.once('close', () => process.send?.(performance.now() - started));
});
process.once('disconnect', () => process.exit(0));
