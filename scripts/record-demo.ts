// Runs the demo and draws its output as docs/demo.svg:
//
//   npm run record-demo
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type RecordedLine, terminalSvg } from './recording/terminal-svg.ts';

const command = 'npm run demo';
/** Long pauses are cut, and simultaneous lines are spread, for a reader to follow. */
const longestPauseS = 0.4;
const shortestPauseS = 0.06;
/** Reading times of lines, before the next line appears. */
const readingTimes: readonly [RegExp, number][] = [
  [/== .*timeline/, 0.4],
  [/== /, 0.7],
  [/^approved /, 1.5],
  [/ {2}ok /, 0.4],
];

const demo = fileURLToPath(new URL('../examples/demo.ts', import.meta.url));
const child = spawn(process.execPath, [demo], {
  env: { ...process.env, FORCE_COLOR: '1' },
  stdio: ['ignore', 'pipe', 'inherit'],
});
const ended = once(child, 'exit');
const lines: RecordedLine[] = [{ text: `\u001b[32m$\u001b[39m ${command}`, at: 0 }];
let shownAt = 0;
let printedAt = performance.now();
for await (const text of createInterface(child.stdout)) {
  const now = performance.now();
  const reading = readingTimes.find(([pattern]) => pattern.test(text))?.[1] ?? shortestPauseS;
  shownAt += Math.max(reading, Math.min(longestPauseS, (now - printedAt) / 1000));
  printedAt = now;
  lines.push({ text: colourDiff(text), at: shownAt });
}
const [code] = await ended;
if (code !== 0) throw new Error(`the demo ended with ${code}`);
await writeFile(new URL('../docs/demo.svg', import.meta.url), terminalSvg(command, lines));

/** The demo prints patches without colours. */
function colourDiff(text: string): string {
  if (/^ {4}\+(?!\+\+)/.test(text)) return `\u001b[32m${text}\u001b[39m`;
  if (/^ {4}-(?!--)/.test(text)) return `\u001b[31m${text}\u001b[39m`;
  return text;
}
