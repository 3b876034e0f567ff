import type { BlockedRule, CommandTable, ProgramRule } from './command-table.ts';
import { gitRule } from './git-rules.ts';

/**
 * Scripts for printing alone, for programs with a language of their own. No two repeated parts can match the same text: matching takes
 * linear time.
 */
const number = String.raw`\d{1,9}`;
const pattern = (end: string) => String.raw`(?:[^${end}\\\n[]|\\[^\n]|\[[^\]${end}\n\\]{1,99}\])*`;
const text = (end: string) => String.raw`(?:[^${end}\\\n]|\\[^\n])*`;
const place = `(?:${number}|\\$|/${pattern('/')}/)`;
const address = `(?:${place}(?:,\\+?${place})?)?!?`;
const replace = ['/', '|', '#', ','].map((end) => `s\\${end}${pattern(end)}\\${end}${text(end)}\\${end}[gpiI0-9]{0,9}`);
const command = `${address}(?:[pdq=]|${replace.join('|')})`;

/** Print, delete, quit, number, replace. Not `w`, `e`, `r`, nor `s///w`, `s///e`. */
export const sedScripts = [new RegExp(`^ ?${command}(?:; ?${command})*;?$`)];

/** No output to a file or a program, no other program's output. */
export const awkScripts = [/^(?![\s\S]*(?:system|getline))[^|>@]*$/];

const except = (...flags: string[]): ProgramRule => ({ except: flags });
const version: ProgramRule = { only: ['--version', '-v', '-V'], operands: 0, needs: ['--version', '-v', '-V'] };
const all = (rule: ProgramRule, names: string) => Object.fromEntries(names.split(' ').map((name) => [name, rule]));

/** A test evaluates the subscript of a tested variable. */
const condition: ProgramRule = {
  ...except('-v', '-R'),
  style: 'word',
  values: [...'bcdefghknprstuwxzGLNS'].map((letter) => `-${letter}`).concat('=', '==', '!='),
};

/** Programs that only read, with any arguments. */
const readers =
  'arch b2sum basename break cal cat cd cksum cmp column comm continue cut df diff dir dirname du echo egrep exit expand expr ' +
  'factor false fgrep fmt fold free getconf grep groups head help hexdump id join jq locale logname ls lscpu md5sum nl nproc ' +
  'numfmt od paste pr ps pwd readlink realpath return rev seq sha1sum sha224sum sha256sum sha384sum sha512sum shift sleep stat ' +
  'strings sum tac tail tr true tsort tty type unexpand uname uptime users vdir wc which who whoami zipinfo :';

const programs: Readonly<Record<string, ProgramRule>> = {
  ...all({}, readers),
  ...all(version, 'bash node python python3 gcc cc clang make java perl ruby php npm curl wget docker'),
  '[': condition,
  ...all({ only: ['-F', '-v'], values: ['-F', '-v'], scripts: { flags: [], safe: awkScripts } }, 'awk gawk mawk'),
  base32: except('-o', '--output'),
  base64: except('-o', '--output'),
  command: { only: ['-v', '-V'], needs: ['-v', '-V'] },
  date: {
    except: ['-s', '--set', '-f', '--file'],
    values: ['-d', '--date', '-r', '--reference'],
    operandStarts: ['+'],
  },
  declare: { only: ['-x', '-r', '-g', '-p', '-l', '-u'] },
  exec: { operands: 0, only: [] },
  export: { only: ['-p'] },
  fd: { except: ['-x', '-X', '--exec', '--exec-batch'] },
  file: except('-C', '--compile', '-z', '--uncompress', '-Z', '--uncompress-noreport'),
  find: {
    except: ['-delete', '-exec', '-execdir', '-ok', '-okdir', '-fls', '-fprint', '-fprint0', '-fprintf'],
    style: 'word',
  },
  git: gitRule,
  hostname: { only: ['-f', '-s', '-i', '-I', '-d'], operands: 0 },
  iconv: except('-o', '--output'),
  local: { only: ['-r', '-l', '-u'] },
  nice: { operands: 0, only: [] },
  printf: { ...except('-v'), operandEndsFlags: true },
  read: { except: ['-e', '-i'] },
  readonly: { only: ['-p'] },
  rg: except('--pre', '--hostname-bin', '-z', '--search-zip'),
  sed: {
    only: ['-n', '-E', '-r', '-s', '-u', '-z', '-e', '--quiet', '--silent', '--regexp-extended', '--expression'],
    values: ['-e', '--expression'],
    scripts: { flags: ['-e', '--expression'], safe: sedScripts },
  },
  set: {
    only: ['-e', '-u', '-x', '-o', '-f', '-E'],
    needs: ['-e', '-u', '-x', '-o', '-f', '-E'],
    operandStarts: ['pipefail', 'errexit', 'nounset', 'xtrace'],
  },
  shuf: except('-o', '--output'),
  sort: except('-o', '--output', '--compress-program', '-T', '--temporary-directory'),
  test: condition,
  tree: except('-o', '--output', '-R'),
  uniq: { values: ['-f', '-s', '-w', '--skip-fields', '--skip-chars', '--check-chars'], operands: 1 },
  xargs: { only: ['-0', '-r', '-t', '-n', '-d', '-I', '-L', '--null', '--no-run-if-empty'] },
  xxd: { except: ['-r'], values: ['-l', '-s', '-c', '-g'], operands: 1 },
};

const locales = ['', 'C', 'POSIX', 'C.UTF-8', 'C.utf8', 'en_US.UTF-8', 'en_US.utf8', 'en_GB.UTF-8', 'de_DE.UTF-8'];

const blocked: BlockedRule[] = [
  {
    programs: ['mkfs', 'mkfs.*', 'mke2fs', 'mkswap', 'wipefs', 'blkdiscard'],
    reason: 'it destroys a file system',
  },
  { programs: ['shutdown', 'reboot', 'halt', 'poweroff', 'killall5'], reason: 'it stops the machine' },
  { programs: ['init', 'telinit'], words: ['0', '6'], reason: 'it stops the machine' },
  {
    programs: ['systemctl'],
    words: ['poweroff', 'reboot', 'halt', 'kexec', 'emergency', 'rescue'],
    reason: 'it stops the machine',
  },
  { programs: ['kill'], last: ['-1'], reason: 'it kills all processes' },
  { programs: ['rm'], words: ['--no-preserve-root'], reason: 'it may delete all files' },
];

/** The classes of agents' usual commands. Every other command needs care. */
export const defaultCommandTable: CommandTable = {
  programs,
  wrappers: [
    ...[
      'bash',
      'builtin',
      'command',
      'dash',
      'env',
      'eval',
      'exec',
      'ionice',
      'nice',
      'sh',
      'stdbuf',
      'time',
      'timeout',
    ],
    ...['xargs', 'zsh'],
  ],
  directories: ['/bin/', '/usr/bin/', '/usr/local/bin/'],
  variables: {
    safe: [
      ...['CI', 'CLICOLOR', 'COLUMNS', 'FORCE_COLOR', 'LANGUAGE', 'LC_COLLATE', 'LC_MESSAGES'],
      ...['LC_NUMERIC', 'LC_TIME', 'LINES', 'NODE_ENV', 'NO_COLOR', 'REPLY', 'TZ'],
    ],
    // In other character sets the second byte of a letter may be a backslash or a backtick.
    values: {
      ...{ LANG: locales, LC_ALL: locales, LC_CTYPE: locales },
      IFS: ['', '\n', ',', ':'],
      PAGER: ['cat', ''],
      GIT_PAGER: ['cat', ''],
      GIT_OPTIONAL_LOCKS: ['0'],
    },
    except: ['all_proxy', 'ftp_proxy', 'histchars', 'http_proxy', 'https_proxy', 'no_proxy'],
  },
  paths: {
    roots: [
      ...[
        '/',
        '~',
        '/bin',
        '/boot',
        '/dev',
        '/etc',
        '/home',
        '/lib',
        '/lib64',
        '/opt',
        '/proc',
        '/root',
        '/run',
        '/sbin',
      ],
      ...['/srv', '/sys', '/usr', '/var'],
    ],
    trees: [
      ...[
        '/bin',
        '/boot',
        '/dev',
        '/etc',
        '/lib',
        '/lib64',
        '/proc',
        '/sbin',
        '/sys',
        '/usr/bin',
        '/usr/lib',
        '/usr/sbin',
      ],
    ],
    open: ['/dev/shm', '/dev/fd'],
    sinks: [
      ...['/dev/null', '/dev/zero', '/dev/full', '/dev/stdin', '/dev/stdout', '/dev/stderr', '/dev/tty'],
      ...['/dev/fd/1', '/dev/fd/2'],
    ],
    sensitive: [
      ...['.aws', '.docker', '.env', '.git-credentials', '.gnupg', '.kube', '.netrc', '.pgpass', '.ssh', 'environ'],
      ...[
        'id_ecdsa',
        'id_ed25519',
        'id_rsa',
        '/dev/mem',
        '/dev/tcp/',
        '/dev/udp/',
        '/etc/shadow',
        '/etc/sudoers',
        '/inet/',
      ],
    ],
    buildFolders: [
      ...[
        '.cache',
        '.gradle',
        '.mypy_cache',
        '.next',
        '.nuxt',
        '.parcel-cache',
        '.pytest_cache',
        '.ruff_cache',
        '.tox',
      ],
      ...[
        '.turbo',
        '.venv',
        '__pycache__',
        'build',
        'coverage',
        'dist',
        'node_modules',
        'out',
        'target',
        'tmp',
        'venv',
      ],
    ],
  },
  blocked,
  untrusted: ['curl', 'wget', 'nc', 'ncat', 'ftp', 'scp', 'sftp', 'ssh', 'telnet'],
  subshell: 'caution',
  background: 'caution',
};
