import { setTimeout as delay } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { type ApiOptions, apiCommand, interruptSignal, type Shell, seconds } from '../shell/index.ts';
import { readTop } from '../top/read-top.ts';
import { topText } from '../top/top-text.ts';

interface TopOptions extends ApiOptions {
  interval: number;
  once?: boolean;
}

/** The cursor goes home, and the rest below is erased: less flicker than erasing the screen first. */
const home = '\u001b[H';
const eraseLine = '\u001b[K';
const eraseBelow = '\u001b[J';

export const topCommand = (shell: Shell): Command =>
  apiCommand('top', 'show what runs now: workers by host, their jobs, and what waits')
    .addOption(
      new Option('--interval <seconds>', 'on a terminal: how often it looks again')
        .argParser(seconds)
        .default(2000, '2'),
    )
    .option('--once', 'print it once, also on a terminal')
    .action(async ({ url, json, interval, once = false }: TopOptions) => {
      const client = await shell.connect(url);
      const lines = async () => topText(await readTop(client), { width: shell.tableWidth, now: Date.now() });
      if (json) return shell.printJson(await readTop(client));
      if (once || !shell.redraws) {
        for (const line of await lines()) shell.print(line);
        return;
      }
      using signal = interruptSignal();
      while (!signal.aborted) {
        const text = (await lines()).map((line) => `${line}${eraseLine}\n`).join('');
        shell.write(`${home}${text}${eraseBelow}`);
        await delay(interval, undefined, { signal }).catch(() => undefined);
      }
    });
