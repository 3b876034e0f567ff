import { type ChildProcess, spawn } from 'node:child_process';
import { fstatSync } from 'node:fs';
import { Server } from 'node:net';
import { fileURLToPath } from 'node:url';
import { identityFrom, type ProcessIdentity } from '@holdpoint/process';
import type { PassedFile, Report, StarterRequest, StartRequest, ViewRequest } from './protocol.ts';

/** Events of a start. After `failed`, `ended` or `lost` nothing follows. */
interface StartEvents {
  /** Null when the process has ended already. */
  started(process: ProcessIdentity | null): void;
  /** The operating system refused to start even the first program. */
  failed(message: string): void;
  /** The sandbox's listening socket; null: the sandbox could not open a socket. */
  listener(server: Server | null): void;
  /** The first program has ended. */
  ended(end: { signaled: boolean }): void;
  /** The starter has ended, and the kernel kills the starter's sandboxes. */
  lost(): void;
}

export interface Start {
  /** Call `follow` directly after `start`. */
  follow(events: StartEvents): void;
  /** Whether this start keeps the worker's event loop alive. @default true */
  keepAlive(yes: boolean): void;
}

/** Views at once. While there are so many, no other view is made: a view takes as long to make as several sandboxes. */
const mostViews = 16;
/**
 * A view ends when no sandbox was planned for it in this time, because the view holds its sandboxes' file systems. After a failure to make
 * a view, the starter gets the request again after this time.
 */
const defaultViewIdleMs = 60_000;

const program = fileURLToPath(new URL('main.mjs', import.meta.url));

/**
 * A small process to start the sandboxes of this worker. The starter is their parent, so the kernel kills the sandboxes when the starter
 * ends. The starter dies with the worker: by a death signal where the host has setpriv, and by its closed channel.
 *
 * A program of the host could stop or kill the starter. Its sandboxes are then lost, and the next start makes a new starter.
 */
export class Starter {
  readonly #setpriv: string | null;
  readonly #viewIdleMs: number;
  #running: RunningStarter | null = null;
  #nextId = 1;

  constructor(input: { setpriv: string | null; viewIdleMs?: number }) {
    this.#setpriv = input.setpriv;
    this.#viewIdleMs = input.viewIdleMs ?? defaultViewIdleMs;
  }

  /** @param onTaken called when the starter has opened the passed files, or never will */
  start(request: Omit<StartRequest, 'kind' | 'id'>, onTaken: () => void): Start {
    const running = this.#open();
    const id = this.#nextId++;
    running.hold(id);
    running.send({ kind: 'start', id, ...request });
    return {
      follow: (events) =>
        running.starts.set(id, {
          ...events,
          started(process) {
            onTaken();
            events.started(process);
          },
          failed(message) {
            onTaken();
            events.failed(message);
          },
          lost() {
            onTaken();
            events.lost();
          },
        }),
      keepAlive: (yes) => (yes && running.starts.has(id) ? running.hold(id) : running.release(id)),
    };
  }

  /** Makes FIFOs, open to every user. Their directory has to keep the others away. */
  makeFifos(mkfifo: string, paths: string[]): Promise<void> {
    const running = this.#open();
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const settle = (error: string | null) => (error === null ? resolve() : reject(new Error(error)));
      running.fifos.set(id, settle);
      running.send({ kind: 'fifos', id, mkfifo, paths });
    });
  }

  /**
   * A mount namespace for programs to start in. Null while there is no such namespace: the first call asks the starter to make a view.
   * @param key two requests with the same key are for the same view
   */
  view(key: string, request: Omit<ViewRequest, 'kind' | 'id'>): number | null {
    const running = this.#open();
    const known = running.views.get(key);
    if (known?.state === 'usable') {
      known.idle.refresh();
      return known.id;
    }
    if (!known && [...running.views.values()].filter(({ state }) => state !== 'unusable').length < mostViews) {
      const id = this.#nextId++;
      const idle = setTimeout(() => running.dropView(key), this.#viewIdleMs).unref();
      running.views.set(key, { id, state: 'being_made', idle });
      running.send({ kind: 'view', id, ...request });
    }
    return null;
  }

  /** Ends the process. Call `close` when no sandbox runs any more. */
  async close(): Promise<void> {
    await this.#running?.close();
  }

  #open(): RunningStarter {
    this.#running ??= new RunningStarter(this.#setpriv, (ended) => {
      if (this.#running === ended) this.#running = null;
    });
    return this.#running;
  }
}

interface View {
  id: number;
  state: 'being_made' | 'usable' | 'unusable';
  idle: NodeJS.Timeout;
}

class RunningStarter {
  readonly starts = new Map<number, StartEvents>();
  readonly fifos = new Map<number, (error: string | null) => void>();
  /** By key. */
  readonly views = new Map<string, View>();
  readonly #subprocess: ChildProcess;
  readonly #held = new Set<number>();
  readonly #closed: Promise<void>;
  #isLost = false;

  constructor(setpriv: string | null, onEnd: (ended: RunningStarter) => void) {
    const node = [process.execPath, '--disable-sigusr1', '--max-old-space-size=64', program, String(process.pid)];
    const [first = '', ...args] = setpriv === null ? node : [setpriv, '--pdeathsig', 'KILL', '--', ...node];
    this.#subprocess = spawn(first, args, {
      // Nothing of the worker's environment, where secrets are.
      env: {},
      cwd: '/',
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      serialization: 'advanced',
    });
    const lose = () => {
      if (this.#isLost) return;
      this.#isLost = true;
      onEnd(this);
      for (const events of this.starts.values()) events.lost();
      for (const settle of this.fifos.values()) settle('the starter has ended');
    };
    this.#closed = new Promise((resolve) => {
      this.#subprocess.once('exit', () => {
        lose();
        resolve();
      });
    });
    this.#subprocess.once('error', lose);
    this.#subprocess.once('disconnect', () => {
      // Without a channel the starter is of no use, and its sandboxes neither.
      this.#subprocess.kill('SIGKILL');
      lose();
    });
    this.#subprocess.on('message', (report, handle) => this.#receive(report as Report, handle));
    this.#subprocess.unref();
    this.#subprocess.channel?.unref();
  }

  send(request: StarterRequest): void {
    if (!this.#isLost && this.#subprocess.connected) this.#subprocess.send(request, () => {});
  }

  hold(id: number): void {
    this.#held.add(id);
    this.#subprocess.channel?.ref();
  }

  release(id: number): void {
    this.#held.delete(id);
    if (this.#held.size === 0) this.#subprocess.channel?.unref();
  }

  async close(): Promise<void> {
    if (this.#subprocess.connected) this.#subprocess.disconnect();
    this.#subprocess.ref();
    if (this.#subprocess.pid !== undefined) await this.#closed;
  }

  dropView(key: string): void {
    const view = this.views.get(key);
    this.views.delete(key);
    if (view) this.send({ kind: 'drop_view', id: view.id });
  }

  #receive(report: Report, handle: unknown): void {
    if (report.kind === 'fifos') {
      this.fifos.get(report.id)?.(report.error);
      this.fifos.delete(report.id);
      return;
    }
    if (report.kind === 'view') {
      const view = [...this.views.values()].find(({ id }) => id === report.id);
      if (view) view.state = report.isUsable ? 'usable' : 'unusable';
      return;
    }
    const events = this.starts.get(report.id);
    if (report.kind === 'ended' || report.kind === 'failed') {
      this.starts.delete(report.id);
      this.release(report.id);
    }
    if (!events) {
      // The socket was under way when its sandbox ended.
      if (handle instanceof Server) handle.close();
      return;
    }
    switch (report.kind) {
      case 'started':
        events.started(identified(report));
        break;
      case 'failed':
        events.failed(report.message);
        break;
      case 'listener':
        events.listener(report.isOpen && handle instanceof Server ? handle : null);
        break;
      case 'ended':
        events.ended(report);
        break;
      default:
        report satisfies never;
    }
  }
}

function identified({ pid, stat }: { pid: number; stat: string | null }): ProcessIdentity | null {
  return stat === null ? null : identityFrom(pid, stat);
}

export function passed(fd: number, access: PassedFile['access']): PassedFile {
  return { fd, inode: fstatSync(fd).ino, access };
}
