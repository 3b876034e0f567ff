import { once } from 'node:events';
import type { Client } from '@holdpoint/client';
import type { Config } from './config.ts';
import { findConnection } from './connection.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { type Colors, colorsFor } from './output/colors.ts';
import { plain, plainJson } from './output/plain.ts';

/** The streams of the process; `main.ts` passes the real ones. */
export interface Terminal {
  stdout: NodeJS.WritableStream & { isTTY?: boolean; columns?: number };
  stderr: NodeJS.WritableStream & { isTTY?: boolean };
  stdin: NodeJS.ReadableStream & { isTTY?: boolean };
}

/** What every command can use. */
export interface Shell {
  config: Config;
  /** Both stdin and stdout are a terminal, so the command may ask questions. */
  interactive: boolean;
  stdoutIsTerminal: boolean;
  /** Columns of stdout. */
  width: number;
  colors: Colors;
  /** For stderr, which may be a terminal when stdout is not. */
  errColors: Colors;
  /** Writes text to stdout unchanged. */
  write(text: string): void;
  /** Copies bytes to stdout at the reader's speed. On a terminal, control characters are escaped. */
  pipe(bytes: AsyncIterable<Uint8Array>): Promise<void>;
  /** Prints one line of the result on stdout. */
  print(text: string): void;
  /** Prints one JSON value on one line of stdout, with invisible characters escaped. */
  printJson(value: unknown): void;
  /** Prints one line of progress on stderr. */
  say(text: string): void;
  /** From now on a closed terminal, or a full disk behind a redirection, does not end the process. The output is lost. */
  outliveTerminal(): void;
  /** True once `outliveTerminal` was called. */
  readonly outlivesTerminal: boolean;
  /** Reads standard input to its end. */
  readInput(): Promise<string>;
  exitCode: ExitCode;
  /** @param url the value of --url. @param key used instead of the one from the environment */
  connect(url?: string, key?: string): Promise<Client>;
  close(): Promise<void>;
}

export function openShell(config: Config, terminal: Terminal): Shell {
  const { stdout, stderr, stdin } = terminal;
  const clients: Client[] = [];
  let outlives = false;
  return {
    config,
    interactive: stdin.isTTY === true && stdout.isTTY === true,
    stdoutIsTerminal: stdout.isTTY === true,
    width: stdout.columns ?? 240,
    colors: colorsFor(config.color ?? stdout.isTTY === true),
    errColors: colorsFor(config.color ?? stderr.isTTY === true),
    write: (text) => stdout.write(text),
    async pipe(bytes) {
      const decoder = stdout.isTTY === true ? new TextDecoder() : undefined;
      for await (const chunk of bytes) {
        const fits = stdout.write(decoder ? plain(decoder.decode(chunk, { stream: true })) : chunk);
        if (!fits) await once(stdout, 'drain');
      }
      if (decoder) stdout.write(plain(decoder.decode()));
    },
    print: (text) => stdout.write(`${text}\n`),
    printJson: (value) => stdout.write(`${plainJson(value)}\n`),
    say: (text) => stderr.write(`${text}\n`),
    outliveTerminal() {
      outlives = true;
    },
    get outlivesTerminal() {
      return outlives;
    },
    async readInput() {
      let text = '';
      stdin.setEncoding('utf8');
      for await (const chunk of stdin) text += chunk;
      return text;
    },
    exitCode: exitCodes.ok,
    async connect(url, key) {
      const connection = findConnection(key === undefined ? config : { ...config, key }, url);
      // A lazy import: commands that need no server start faster.
      const { createClient } = await import('@holdpoint/client');
      const client = createClient({ baseUrl: connection.url, key: connection.key });
      clients.push(client);
      return client;
    },
    async close() {
      await Promise.all(clients.map((client) => client.close()));
    },
  };
}
