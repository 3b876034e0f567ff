import { readFileSync } from 'node:fs';
import type { Command } from './tree.ts';

const program = readFileSync(new URL('inside/terminal.pl', import.meta.url), 'utf8');

/** A command line whose command has a terminal of its own. The terminal's output is the output of the command line. */
export const inTerminal = (
  { columns, rows }: { columns: number; rows: number },
  argv: Command['argv'],
): Command['argv'] => ['/usr/bin/perl', '-e', program, '--', String(columns), String(rows), ...argv];
