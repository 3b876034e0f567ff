import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { ShotError } from './error.ts';

type Result = Record<string, unknown>;
type OnEvent = (method: string, params: Result, session: string | undefined) => void;

/** A Chromium without a window, over the two pipes of the DevTools protocol: the sandbox has no unix sockets, and no port is opened. */
export interface Browser extends AsyncDisposable {
  send(method: string, params?: object, session?: string): Promise<Result>;
  onEvent(listener: OnEvent): void;
  /** Rejects when the browser ends. */
  ended: Promise<never>;
}

/** The sandbox around the browser is Holdpoint's: it has no user namespaces for one of the browser's own. */
const flags = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--hide-scrollbars'],
  ...['--no-first-run', '--no-default-browser-check', '--disable-background-networking', '--disable-sync'],
  ...['--disable-extensions', '--disable-component-update', '--mute-audio', '--no-proxy-server', '--no-pings'],
  ...['--ignore-certificate-errors', '--remote-debugging-pipe', '--user-data-dir=/tmp/browser', 'about:blank'],
];

/** The page's memory is bounded by the sandbox, too. */
const env = { PATH: '/usr/bin:/bin', HOME: '/tmp', TMPDIR: '/tmp', LANG: 'C.UTF-8' };

export async function openBrowser(program: string): Promise<Browser> {
  const child = spawn(program, flags, { stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'], env, detached: true });
  const ended = endOf(child);
  ended.catch(() => {});
  const [input, output] = [child.stdio[3] as Writable, child.stdio[4] as Readable];
  input.on('error', () => {});
  const waiting = new Map<number, { resolve(result: Result): void; reject(error: Error): void }>();
  const listeners: OnEvent[] = [];
  let last = 0;
  readMessages(output, ({ id, method, params, result, error, sessionId }) => {
    if (id === undefined) {
      for (const listener of listeners) listener(method ?? '', params ?? {}, sessionId);
      return;
    }
    const one = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) one?.resolve(result ?? {});
    else one?.reject(new ShotError('page', error.message));
  });
  const browser: Browser = {
    send: (method, params = {}, session) => {
      const id = ++last;
      const answered = new Promise<Result>((resolve, reject) => waiting.set(id, { resolve, reject }));
      input.write(`${JSON.stringify({ id, method, params, ...(session !== undefined && { sessionId: session }) })}\0`);
      return Promise.race([answered, ended]);
    },
    onEvent: (listener) => listeners.push(listener),
    ended,
    async [Symbol.asyncDispose]() {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // The browser has ended.
      }
    },
  };
  await browser.send('Browser.getVersion');
  return browser;
}

interface Message {
  id?: number;
  method?: string;
  params?: Result;
  result?: Result;
  error?: { message: string };
  sessionId?: string;
}

/** Each message ends with a NUL. */
function readMessages(stream: Readable, onMessage: (message: Message) => void): void {
  let parts: string[] = [];
  stream.setEncoding('utf8').on('data', (text: string) => {
    const [first = '', ...rest] = text.split('\0');
    parts.push(first);
    for (const next of rest) {
      onMessage(JSON.parse(parts.join('')) as Message);
      parts = [next];
    }
  });
}

function endOf(child: ChildProcess): Promise<never> {
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-1000);
  });
  return new Promise((_, reject) => {
    child.on('error', (error) => reject(new ShotError('browser', error.message)));
    child.on('exit', (code, signal) => {
      const why = said.trim().split('\n').at(-1) ?? '';
      reject(new ShotError('browser', `the browser ended with ${signal ?? `exit code ${code}`}. ${why}`));
    });
  });
}
