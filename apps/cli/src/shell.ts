import { once } from 'node:events';
import type { Client } from '@holdpoint/client/client';
import type { Config } from './config.ts';
import { findConnection } from './connection.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { type Colors, colorsFor } from './output/colors.ts';
import { plain, plainJson } from './output/plain.ts';

/** The process around a command. `main.ts` gives the real one. */
export interface Terminal {
  stdout: NodeJS.WritableStream & { isTTY?: boolean; columns?: number };
  stderr: NodeJS.WritableStream & { isTTY?: boolean };
  stdin: NodeJS.ReadableStream & { isTTY?: boolean };
}

/** What every command has at hand. */
export interface Shell {
  config: Config;
  /** A person sits there: both questions and answers reach them. */
  interactive: boolean;
  stdoutIsTerminal: boolean;
  /** Characters of a line on stdout. */
  width: number;
  colors: Colors;
  /** For stderr, which may be a terminal when stdout is none. */
  errColors: Colors;
  /** Text as it is, on stdout. */
  write(text: string): void;
  /** Bytes on stdout as fast as they are read there. A terminal gets text with nothing in it that could steer it. */
  pipe(bytes: AsyncIterable<Uint8Array>): Promise<void>;
  /** One line of result, on stdout. */
  print(text: string): void;
  /** One JSON value on a line of its own, on stdout. What cannot be seen is escaped. */
  printJson(value: unknown): void;
  /** One line of progress, on stderr. */
  say(text: string): void;
  /** From now on a terminal that is gone, or a full disk behind a redirection, does not end the process: what is printed is lost. */
  outliveTerminal(): void;
  /** True once `outliveTerminal` was called. */
  readonly outlivesTerminal: boolean;
  /** Text given on standard input. */
  readInput(): Promise<string>;
  exitCode: ExitCode;
  /** @param url as given with --url. @param key when it is known better than by the environment */
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
      // Loaded here, so that commands which need no server start faster.
      const { createClient } = await import('@holdpoint/client/client');
      const client = createClient({ baseUrl: connection.url, key: connection.key });
      clients.push(client);
      return client;
    },
    async close() {
      await Promise.all(clients.map((client) => client.close()));
    },
  };
}
