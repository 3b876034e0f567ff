import path from 'node:path';
import { canUnpackPackages, unpackPackage } from './debian-package.mjs';
import { SetupError } from './error.mjs';
import { findProgram, isExecutable } from './find-program.mjs';

const servers = ['valkey-server', 'redis-server'];
const next = [
  'Do one of these and run the command again:',
  '  macOS            brew install valkey',
  '  Debian, Ubuntu   sudo apt-get install redis-server',
  '  Fedora, RHEL     sudo dnf install valkey',
  '  Arch             sudo pacman -S valkey',
  '  Alpine           sudo apk add valkey',
  '  with Docker      docker run -d -p 127.0.0.1:6379:6379 valkey/valkey:8.1-alpine valkey-server --appendonly yes --appendfsync always',
  '                   export REDIS_URL=redis://127.0.0.1:6379 (no password: every process that reaches the port can approve any call)',
  '  anything else    export REDIS_URL=redis://host:6379',
].join('\n');

/**
 * Whether there is a Redis: the user's own (REDIS_URL), the system's, or the unpacked Redis.
 *
 * @param {import('./machine.mjs').Machine} machine
 */
export function isReady(machine) {
  if (machine.env.REDIS_URL) return true;
  return servers.some((name) => findProgram(machine, name) || isExecutable(path.join(place(machine), 'bin', name)));
}

/** @param {import('./machine.mjs').Machine} machine */
export async function prepare(machine) {
  if (!canUnpackPackages(machine)) {
    throw new SetupError('no Redis found (neither REDIS_URL nor valkey-server nor redis-server on PATH).', next);
  }
  machine.progress('no Redis found: unpacking the package of this distribution (.cache/redis)');
  await unpackPackage(machine, {
    directory: place(machine),
    groups: ['valkey-server valkey-tools', 'redis-server redis-tools'],
    programs: servers,
    next,
  });
  machine.progress('Redis unpacked');
}

/** @param {import('./machine.mjs').Machine} machine */
function place({ root }) {
  return path.join(root, '.cache/redis');
}
