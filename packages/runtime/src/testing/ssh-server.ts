import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { listen, stop } from '@holdpoint/egress/testing';

const project = join(import.meta.dirname, '../../../..');
const places = ['/usr/sbin/sshd', join(project, '.cache/openssh/usr/sbin/sshd')];

/** Path of sshd; undefined where there is none, or where this process may not start one for itself. */
export const sshd = process.getuid?.() === 0 ? places.find((path) => existsSync(path)) : undefined;

export interface SshServer extends AsyncDisposable {
  port: number;
  /** A private key that may log in as root. */
  key: string;
  /** Lines of a known_hosts file. */
  knownHosts: string;
}

/** A real sshd on the loopback. Only it sees a user for its unprivileged half. */
export async function startSshServer(folder: string): Promise<SshServer> {
  mkdirSync(folder, { recursive: true });
  const at = (name: string) => join(folder, name);
  for (const name of ['host', 'user']) execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', at(name)]);
  const port = await freePort();
  const settings = [
    ...[`Port ${port}`, 'ListenAddress 127.0.0.1', `HostKey ${at('host')}`, `AuthorizedKeysFile ${at('user.pub')}`],
    ...['StrictModes no', 'UsePAM no', 'PasswordAuthentication no', `PidFile ${at('pid')}`],
  ];
  writeFileSync(at('conf'), `${settings.join('\n')}\n`);
  writeFileSync(
    at('passwd'),
    `${readFileSync('/etc/passwd', 'utf8')}sshd:x:65533:65534::/run/sshd:/usr/sbin/nologin\n`,
  );
  const script =
    'mount --bind "$1" /etc/passwd && mount -t tmpfs none /run && mkdir /run/sshd && exec "$2" -D -e -f "$3"';
  const libraries = join(project, '.cache/openssh/usr/lib/x86_64-linux-gnu');
  const server = spawn('unshare', ['-m', 'sh', '-c', script, 'sh', at('passwd'), sshd ?? '', at('conf')], {
    env: { PATH: process.env.PATH, LD_LIBRARY_PATH: libraries },
    stdio: 'ignore',
  });
  while (!existsSync(at('pid')) && server.exitCode === null) await sleep(20);
  const [type, key] = readFileSync(at('host.pub'), 'utf8').split(' ');
  return {
    port,
    key: readFileSync(at('user'), 'utf8'),
    knownHosts: `[localhost]:${port} ${type} ${key}`,
    async [Symbol.asyncDispose]() {
      if (server.exitCode !== null) return;
      server.kill();
      await once(server, 'exit');
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await stop(server);
  return port;
}
