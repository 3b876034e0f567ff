import type { OptionSyntax } from './read-options.ts';
import type { PathAccess } from './simple-command.ts';

/** A program's use of its arguments: paths and hosts. Where nothing is said, nothing is known. */
export interface ProgramFacts extends OptionSyntax {
  /** Facts by sub-command, the first operand. */
  subcommands?: Readonly<Record<string, ProgramFacts>>;
  /** How the operands after `skip` are used. */
  operands?: PathAccess;
  /** The last operand instead. */
  last?: PathAccess;
  /** Operands before the paths, for example the pattern of `grep`. */
  skip?: number;
  /** With any of these flags no operand is skipped (`grep -e`). */
  skipsNone?: readonly string[];
  /** Flags whose value is a path. */
  paths?: Readonly<Record<string, PathAccess>>;
  /** Flags with a changed use of the operands. */
  changes?: Readonly<Record<string, PathAccess>>;
  /** Without an operand the program works on its current directory. */
  whole?: boolean;
  /** Flags for another working directory. */
  moves?: readonly string[];
  /** Operands with a name before a path (`dd of=…`). */
  named?: Readonly<Record<string, PathAccess>>;
  /** Operands with a possible URL, host, or `host:path` at the start; or hosts outside of the arguments. */
  hosts?: 'url' | 'host' | 'remote' | 'unnamed';
}

const read = (...values: string[]): ProgramFacts => ({ operands: 'read', values });
const remove: ProgramFacts = { operands: 'delete' };
const write: ProgramFacts = { operands: 'write' };
const grep: ProgramFacts = {
  operands: 'read',
  skip: 1,
  skipsNone: ['-e', '-f', '--regexp', '--file', '--files'],
  values: ['-e', '-f', '-m', '-A', '-B', '-C', '-d', '-D', '-g', '-t', '-T', '-j', '--glob', '--type'],
  paths: { '-f': 'read', '--file': 'read' },
};
const copy: ProgramFacts = {
  operands: 'read',
  last: 'write',
  values: ['-t', '--target-directory', '-S', '-m', '-o', '-g'],
  paths: { '-t': 'write', '--target-directory': 'write' },
};
const network: ProgramFacts = { hosts: 'unnamed' };

export const programFacts: Readonly<Record<string, ProgramFacts>> = {
  awk: { operands: 'read', skip: 1, values: ['-F', '-v', '-f'], skipsNone: ['-f'], paths: { '-f': 'read' } },
  base64: { operands: 'read', values: ['-w', '-o', '--output'], paths: { '-o': 'write', '--output': 'write' } },
  blkdiscard: write,
  cat: read(),
  chgrp: { ...write, skip: 1 },
  chmod: { ...write, skip: 1 },
  chown: { ...write, skip: 1 },
  cmp: read(),
  comm: read(),
  cp: copy,
  curl: {
    hosts: 'url',
    values: [...'AbcCdDeEFhHKmoPQrtTuUwxXyYz']
      .map((letter) => `-${letter}`)
      .concat('--output', '--data', '--header', '--request'),
    paths: { '-o': 'write', '--output': 'write', '-T': 'read', '--upload-file': 'read' },
  },
  cut: read('-d', '-f', '-c', '-b'),
  dd: { named: { 'if=': 'read', 'of=': 'write' } },
  diff: read('-U', '-C', '-x', '-I'),
  du: read('-d', '--max-depth', '--exclude'),
  egrep: grep,
  fdisk: write,
  fgrep: grep,
  file: read(),
  find: {
    style: 'word',
    operands: 'read',
    changes: { '-delete': 'delete' },
    whole: true,
    values: [
      ...['-name', '-iname', '-path', '-ipath', '-wholename', '-regex', '-iregex', '-type', '-maxdepth', '-mindepth'],
      ...['-size', '-mtime', '-mmin', '-atime', '-ctime', '-newer', '-perm', '-user', '-group', '-printf', '-links'],
      ...['-fprint', '-fprint0', '-fls', '-fprintf'],
    ],
    paths: { '-fprint': 'write', '-fprint0': 'write', '-fls': 'write', '-fprintf': 'write' },
  },
  ftp: { hosts: 'host' },
  git: {
    values: ['-C', '-c', '--git-dir', '--work-tree', '--namespace', '--config-env', '--exec-path'],
    moves: ['-C', '--git-dir', '--work-tree'],
    subcommands: {
      clean: { ...remove, values: ['-e', '--exclude'], whole: true },
      clone: { hosts: 'remote', values: ['-b', '--branch', '--depth', '-o', '--origin', '--config', '-c'] },
      fetch: { hosts: 'remote' },
      'ls-remote': { hosts: 'remote' },
      mv: { operands: 'delete', last: 'write' },
      pull: { hosts: 'remote' },
      push: { hosts: 'remote' },
      rm: remove,
      submodule: network,
    },
  },
  grep,
  head: read('-n', '-c', '--lines', '--bytes'),
  install: copy,
  ln: copy,
  ls: read('-I', '-w', '--ignore'),
  md5sum: read(),
  mkdir: { ...write, values: ['-m', '--mode'] },
  'mkfs.ext4': write,
  mv: { ...copy, operands: 'delete' },
  nc: { hosts: 'host', values: ['-p', '-w', '-s', '-i', '-q', '-e', '-c'] },
  ncat: { hosts: 'host', values: ['-p', '-w', '-s', '-i', '-e', '-c'] },
  nl: read('-b', '-n', '-w', '-s'),
  nslookup: { hosts: 'host' },
  npm: {
    subcommands: Object.fromEntries(
      ['add', 'ci', 'i', 'install', 'publish', 'update', 'view', 'audit', 'exec'].map((name) => [name, network]),
    ),
  },
  parted: write,
  ping: { hosts: 'host', values: ['-c', '-i', '-W', '-w', '-s'] },
  pip: { subcommands: { install: network, download: network } },
  pnpm: { subcommands: { add: network, i: network, install: network, update: network } },
  readlink: read(),
  realpath: read(),
  rg: grep,
  rm: remove,
  rmdir: remove,
  rsync: { hosts: 'remote', operands: 'read', last: 'write', values: ['-e', '--rsh', '--exclude', '--include'] },
  scp: { hosts: 'remote', operands: 'read', last: 'write', values: ['-P', '-i', '-F', '-o', '-l', '-c', '-J', '-S'] },
  sed: {
    operands: 'read',
    skip: 1,
    values: ['-e', '-f', '-l', '--expression', '--file'],
    skipsNone: ['-e', '-f', '--expression', '--file'],
    changes: { '-i': 'write', '--in-place': 'write' },
  },
  sftp: { hosts: 'remote' },
  sha256sum: read(),
  shred: { operands: 'delete', values: ['-n', '-s'] },
  sort: {
    operands: 'read',
    values: ['-o', '-k', '-t', '-S', '-T', '--output'],
    paths: { '-o': 'write', '--output': 'write' },
  },
  ssh: { hosts: 'host', values: [...'bcDEeFIiJLlmOopQRSWw'].map((letter) => `-${letter}`), operandEndsFlags: true },
  stat: read('-c', '--format', '-f'),
  tac: read(),
  tail: read('-n', '-c', '--lines', '--bytes'),
  tee: write,
  telnet: { hosts: 'host' },
  touch: { ...write, values: ['-d', '-r', '-t', '--date', '--reference'] },
  tree: read('-L', '-I', '-P', '-o'),
  truncate: { ...write, values: ['-s', '-r', '--size'] },
  uniq: { operands: 'read', values: ['-f', '-s', '-w'] },
  unlink: remove,
  wc: read(),
  wget: {
    hosts: 'url',
    values: ['-O', '-o', '-P', '-e', '-i', '-U', '--output-document', '--header'],
    paths: { '-O': 'write', '-o': 'write', '-P': 'write', '--output-document': 'write' },
  },
  wipefs: write,
  xxd: read('-l', '-s', '-c', '-g'),
  yarn: { subcommands: { add: network, install: network } },
};
