import { styleText } from 'node:util';
import type { Client } from '@holdpoint/client';
import type { Config } from './config.ts';
import type { ExitCode } from './errors.ts';

/** The streams of the process; `main.ts` passes the real ones. */
export interface Terminal {
  stdout: NodeJS.WritableStream & { isTTY?: boolean; columns?: number };
  stderr: NodeJS.WritableStream & { isTTY?: boolean };
  stdin: NodeJS.ReadableStream & { isTTY?: boolean };
}

/** The parts for every command. */
export interface Shell {
  config: Config;
  /** Both stdin and stdout are a terminal, so the command may ask questions. */
  interactive: boolean;
  stdoutIsTerminal: boolean;
  /** Stdout is a terminal with a movable cursor (not TERM=dumb), so lines can be drawn again. */
  redraws: boolean;
  /** Columns of stdout. */
  width: number;
  /** The same when stdout is a terminal. Undefined: tables are written whole. */
  tableWidth: number | undefined;
  colors: Colors;
  /** For stderr, because stderr may be a terminal when stdout is not. */
  errColors: Colors;
  /** Writes text to stdout unchanged. */
  write(text: string): void;
  /** Copies bytes to stdout at the reader's speed. On a terminal, control characters are escaped. */
  pipe(bytes: AsyncIterable<Uint8Array>): Promise<void>;
  /** Prints a line of the result on stdout. */
  print(text: string): void;
  /** Prints a JSON value on a single line of stdout, with invisible characters escaped. */
  printJson(value: unknown): void;
  /** Prints a line of progress on stderr. */
  say(text: string): void;
  /** From now on a closed terminal, or a full disk behind a redirection, does not end the process. The output is lost. */
  outliveTerminal(): void;
  /** True once `outliveTerminal` was called. */
  readonly outlivesTerminal: boolean;
  /** Reads standard input to its end. */
  readInput(): Promise<string>;
  exitCode: ExitCode;
  /** @param url the value of --url. @param key used instead of the environment's key */
  connect(url?: string, key?: string): Promise<Client>;
  close(): Promise<void>;
}

const names = ['bold', 'dim', 'italic', 'red', 'green', 'yellow', 'cyan'] as const;
type ColorName = (typeof names)[number];
/** Each function colours a text, or returns the text unchanged. */
export type Colors = Readonly<Record<ColorName, (text: string) => string>>;

export function colorsFor(enabled: boolean): Colors {
  const paint = (name: ColorName) => (text: string) =>
    enabled ? styleText(name, text, { validateStream: false }) : text;
  return {
    bold: paint('bold'),
    dim: paint('dim'),
    italic: paint('italic'),
    red: paint('red'),
    green: paint('green'),
    yellow: paint('yellow'),
    cyan: paint('cyan'),
  };
}
