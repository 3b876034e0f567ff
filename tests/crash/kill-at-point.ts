import childProcess from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';

/**
 * Preloaded into a worker: counts its points between two texts sent to Redis, KILL_FROM and KILL_TO, and kills the worker before the point
 * number KILL_POINT. A point is a sent command, a change of a file, or the start of a process. The count goes to the file KILL_COUNT.
 */
const { KILL_FROM = '', KILL_TO = '', KILL_POINT = '', KILL_COUNT = '' } = process.env;
const victim = Number(KILL_POINT);
let [points, state] = [0, 'before' as 'before' | 'between' | 'after'];
// The writing functions of `fs` call the wrapped functions.
const [count, writeSync] = [fs.openSync(KILL_COUNT, 'a'), fs.writeSync];

function pass(): void {
  if (state !== 'between') return;
  points += 1;
  if (points === victim) process.kill(process.pid, 'SIGKILL');
  writeSync(count, '.');
}

const write = Socket.prototype.write;
Socket.prototype.write = function (this: Socket, ...args: Parameters<typeof write>) {
  const text = String(args[0]);
  if (state === 'before' && text.includes(KILL_FROM)) state = 'between';
  pass();
  const isLast = state === 'between' && text.includes(KILL_TO);
  const isSent = Reflect.apply(write, this, args);
  if (isLast) {
    // Once more when the last command is sent.
    pass();
    state = 'after';
  }
  return isSent;
} as typeof write;

function wrap(owner: object, names: readonly string[]): void {
  for (const name of names) {
    const real = Reflect.get(owner, name);
    const counted = (...args: unknown[]) => {
      pass();
      return Reflect.apply(real, owner, args);
    };
    // `execFile` has a form of its own for `promisify`.
    Reflect.set(owner, name, Object.defineProperties(counted, Object.getOwnPropertyDescriptors(real)));
  }
}
const changes = ['rename', 'mkdir', 'link', 'symlink', 'unlink', 'rm', 'writeFile', 'appendFile', 'chmod', 'utimes'];
wrap(
  fs,
  changes.map((name) => `${name}Sync`),
);
wrap(fs, ['writeSync', 'fsyncSync', 'fdatasyncSync']);
wrap(fs.promises, changes);
wrap(childProcess, ['spawn', 'execFile', 'spawnSync', 'execFileSync']);
syncBuiltinESMExports();
