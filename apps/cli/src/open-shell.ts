import { once } from 'node:events';
import type { Client } from '@holdpoint/client';
import { plain, plainJson } from '@holdpoint/readable';
import { findConnection } from './connection.ts';
import { type Config, colorsFor, exitCodes, type Shell, type Terminal } from './shell/index.ts';

export function openShell(config: Config, terminal: Terminal): Shell {
  const { stdout, stderr, stdin } = terminal;
  const clients: Client[] = [];
  let outlives = false;
  // A terminal of unknown size reports 0.
  const width = stdout.columns || (stdout.isTTY === true ? 80 : 240);
  const say = (text: string): void => void stderr.write(`${text}\n`);
  return {
    config,
    interactive: stdin.isTTY === true && stdout.isTTY === true,
    stdoutIsTerminal: stdout.isTTY === true,
    redraws: stdout.isTTY === true && config.environment.TERM !== 'dumb',
    width,
    tableWidth: stdout.isTTY === true ? width : undefined,
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
    say,
    outliveTerminal() {
      outlives = true;
    },
    get outlivesTerminal() {
      return outlives;
    },
    async readInput() {
      let text = '';
      if (stdin.isTTY) say('Type it here, then press Ctrl-D on an empty line.');
      stdin.setEncoding('utf8');
      for await (const chunk of stdin) text += chunk;
      return text;
    },
    exitCode: exitCodes.ok,
    async connect(url, key) {
      const connection = findConnection(key === undefined ? config : { ...config, key }, url);
      // A lazy import: commands without a server start faster.
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
