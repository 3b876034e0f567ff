import type { OptionSyntax } from './read-options.ts';

/** A program that starts another program, named by its arguments. */
export interface Wrapper extends OptionSyntax {
  /** Flags without a value. With any other flag the started program is unknown. */
  flags?: readonly string[];
  /** Operands before the command: `timeout 5 ls` has a single such operand. */
  skip?: number;
  /** `NAME=value` may stand before the command. */
  assignments?: boolean;
  /** The words behind: words of a command, or words joined and read again by a shell. */
  starts: 'command' | 'script';
  /** Flags by which the command runs in another directory; all, when the command always runs in another place. */
  moves?: readonly string[] | 'always';
  /** The script is the first operand alone. */
  oneWord?: boolean;
  /** The program adds words from its input. */
  appends?: boolean;
  /** With any of these flags nothing is started (`command -v`). */
  idle?: readonly string[];
}

/** Unknown flags stop the reading: a short list is safe, but every entry must be right about flags with a value. */
export const wrappers: Readonly<Record<string, Wrapper>> = {
  builtin: { starts: 'command' },
  busybox: { starts: 'command' },
  chrt: { flags: ['-b', '-f', '-i', '-o', '-r'], skip: 1, starts: 'command' },
  chroot: { values: ['--userspec', '--groups'], flags: ['--skip-chdir'], skip: 1, starts: 'command', moves: 'always' },
  command: { flags: ['-p'], starts: 'command', idle: ['-v', '-V'] },
  doas: { values: ['-u', '-C'], flags: ['-n'], starts: 'command' },
  env: {
    values: ['-u', '--unset', '-C', '--chdir'],
    flags: ['-i', '--ignore-environment', '-0', '--null', '-v', '--debug'],
    assignments: true,
    starts: 'command',
    moves: ['-C', '--chdir'],
  },
  eval: { starts: 'script' },
  exec: { values: ['-a'], flags: ['-c', '-l'], starts: 'command' },
  flock: {
    values: ['-w', '--timeout', '-E', '--conflict-exit-code'],
    flags: ['-s', '-x', '-e', '-n', '-o', '-F', '--shared', '--exclusive', '--nonblock'],
    skip: 1,
    starts: 'command',
  },
  ionice: { values: ['-c', '--class', '-n', '--classdata'], flags: ['-t', '--ignore'], starts: 'command' },
  nice: { values: ['-n', '--adjustment'], starts: 'command' },
  nohup: { starts: 'command' },
  parallel: {
    values: ['-j', '--jobs', '-n'],
    flags: ['-k', '--keep-order', '--dry-run'],
    starts: 'command',
    appends: true,
  },
  setsid: { flags: ['-c', '-f', '-w', '--ctty', '--fork', '--wait'], starts: 'command' },
  ssh: {
    values: [...'bcDEeFIiJLlmOopQRSWw'].map((letter) => `-${letter}`),
    flags: [...'46AaCfGgKkMNnqsTtVvXxYy'].map((letter) => `-${letter}`),
    skip: 1,
    starts: 'script',
    moves: 'always',
  },
  strace: { values: ['-e', '-o', '-p', '-s'], flags: ['-c', '-f', '-q', '-t', '-v', '-y'], starts: 'command' },
  stdbuf: { values: ['-i', '-o', '-e', '--input', '--output', '--error'], starts: 'command' },
  sudo: {
    values: [
      '-u',
      '--user',
      '-g',
      '--group',
      '-h',
      '--host',
      '-p',
      '--prompt',
      '-C',
      '-T',
      '-r',
      '-t',
      '-D',
      '--chdir',
    ],
    flags: [
      '-A',
      '-b',
      '-E',
      '-H',
      '-K',
      '-k',
      '-n',
      '-P',
      '-S',
      '-B',
      '--preserve-env',
      '--non-interactive',
      '--stdin',
      '--background',
    ],
    assignments: true,
    starts: 'command',
    moves: ['-D', '--chdir'],
  },
  taskset: { flags: ['-c', '--cpu-list'], skip: 1, starts: 'command' },
  time: { flags: ['-p', '-v', '--portability', '--verbose'], starts: 'command' },
  timeout: {
    values: ['-k', '-s', '--kill-after', '--signal'],
    flags: ['-v', '--verbose', '--foreground', '--preserve-status'],
    skip: 1,
    starts: 'command',
  },
  toybox: { starts: 'command' },
  trap: { starts: 'script', oneWord: true },
  unshare: {
    flags: [
      '-c',
      '-f',
      '-i',
      '-m',
      '-n',
      '-p',
      '-r',
      '-u',
      '-U',
      '--fork',
      '--map-root-user',
      '--mount',
      '--net',
      '--pid',
      '--user',
    ],
    starts: 'command',
    moves: 'always',
  },
  watch: {
    values: ['-n', '--interval'],
    flags: ['-b', '-c', '-d', '-e', '-g', '-p', '-q', '-t', '-w', '-x', '--no-title', '--errexit', '--differences'],
    starts: 'script',
  },
  xargs: {
    values: [
      '-n',
      '-P',
      '-L',
      '-I',
      '-s',
      '-d',
      '-a',
      '-E',
      '--max-args',
      '--max-procs',
      '--max-lines',
      '--delimiter',
      '--arg-file',
    ],
    flags: ['-0', '-r', '-t', '-x', '--null', '--no-run-if-empty', '--verbose', '--exit'],
    starts: 'command',
    appends: true,
  },
};

/**
 * How each shell reads a script. `bash`: as the parser does. `posix`: constructs known to bash alone are refused. `literal`: static words
 * alone.
 */
export const shells: Readonly<Record<string, 'bash' | 'posix' | 'literal'>> = {
  bash: 'bash',
  rbash: 'bash',
  sh: 'posix',
  dash: 'posix',
  ash: 'posix',
  ksh: 'literal',
  mksh: 'literal',
  zsh: 'literal',
};

/** Letters of shell flags without influence on the reading of a script. `c` takes the script, `o` an option's name. */
export const plainShellFlags = 'celxuvfs';

/** Programs that run code from their arguments or their input, with their flags for code. */
export const interpreters: Readonly<Record<string, readonly string[]>> = {
  bash: ['-c'],
  rbash: ['-c'],
  sh: ['-c'],
  dash: ['-c'],
  ash: ['-c'],
  ksh: ['-c'],
  mksh: ['-c'],
  zsh: ['-c'],
  fish: ['-c'],
  csh: ['-c'],
  tcsh: ['-c'],
  python: ['-c', '-m'],
  python2: ['-c', '-m'],
  python3: ['-c', '-m'],
  node: ['-e', '-p', '--eval', '--print'],
  bun: ['-e', '--eval'],
  deno: ['eval'],
  perl: ['-e', '-E', '-n', '-p'],
  ruby: ['-e'],
  php: ['-r'],
  lua: ['-e'],
};
