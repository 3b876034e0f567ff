import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { ShotRequest } from '../protocol.ts';
import { ShotError } from './error.ts';

interface Server extends AsyncDisposable {
  /** Resolves when the port of the address takes connections. */
  listens: Promise<void>;
  output(): string;
}

const mostOutput = 2000;

/** Starts the command that serves the page, in a process group of its own. */
export function startServer({
  serve,
  cwd,
  url,
  listen_ms,
}: Pick<ShotRequest, 'serve' | 'cwd' | 'url' | 'listen_ms'>): Server {
  const child = spawn('/bin/bash', ['-c', serve], { cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const keep = (text: string) => {
    output = (output + text).slice(-mostOutput);
  };
  child.stdout.setEncoding('utf8').on('data', keep);
  child.stderr.setEncoding('utf8').on('data', keep);
  let ended: string | undefined;
  child.on('error', (error) => {
    ended = error.message;
  });
  child.on('exit', (code, signal) => {
    ended = `the command ended with ${signal ?? `exit code ${code}`}`;
  });
  const listens = waitForPort(url, listen_ms, () => ended);
  listens.catch(() => {});
  return {
    listens,
    output: () => output.toWellFormed(),
    async [Symbol.asyncDispose]() {
      if (child.pid === undefined) return;
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // The whole group has ended.
      }
    },
  };
}

async function waitForPort(url: string, most: number, ended: () => string | undefined): Promise<void> {
  const { hostname, port, protocol } = new URL(url);
  const number = Number(port || (protocol === 'https:' ? 443 : 80));
  const hosts = hostname === 'localhost' ? ['127.0.0.1', '::1'] : [hostname.replace(/^\[|\]$/g, '')];
  const until = Date.now() + most;
  for (;;) {
    for (const host of hosts) if (await isOpen(host, number)) return;
    const why = ended();
    // A command may leave its server behind in the background.
    if (Date.now() >= until || (why !== undefined && !why.endsWith('exit code 0'))) {
      throw new ShotError('server', `no program listens on port ${number}${why === undefined ? '' : `: ${why}`}`);
    }
    await wait(100);
  }
}

function isOpen(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port });
  return new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.setTimeout(1000, () => resolve(false));
  }).finally(() => socket.destroy());
}
