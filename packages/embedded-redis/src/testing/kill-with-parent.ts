import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('./kill-at-end.sh', import.meta.url));
let guard: Socket | undefined;

/** Has a process killed when this one ends, even by SIGKILL: the pipe to a guard closes then. One guard per process. */
export function killWithParent(pid: number): void {
  guard ??= startGuard();
  guard.write(`${pid}\n`);
}

function startGuard(): Socket {
  // In a session of its own: a signal to the group of this process must not end it first.
  const child = spawn('sh', [script], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  child.unref();
  const input = child.stdin as Socket;
  input.unref();
  input.on('error', () => undefined);
  return input;
}
