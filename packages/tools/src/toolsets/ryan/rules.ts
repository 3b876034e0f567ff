import type { PolicyRule } from '@holdpoint/contract';

type Match = NonNullable<PolicyRule['match']['command']>;

/** An option of `rm` for recursive or force, alone or among others behind a single hyphen. */
const recursive = '{-[rR]*,-[!-]*[rR]*,--r*}';
const force = '{-f*,-[!-]*f*,--f*}';
/** Anything behind the name of a program. */
const anything = (programs: string): string[] => [programs, '**'];

const forbidden: readonly { name: string; reason: string; commands: readonly Match[] }[] = [
  {
    name: 'other-user',
    reason: 'security: sudo and su are not allowed',
    commands: [{ argv: anything('{sudo,su}') }],
  },
  {
    name: 'recursive-removal',
    reason: 'security: rm -rf is not allowed',
    commands: [
      { argv: ['rm', '**', recursive, '**', force, '**'] },
      { argv: ['rm', '**', force, '**', recursive, '**'] },
    ]
      // A single word may have both.
      .concat([{ argv: ['rm', '**', '{-[rR]*f*,-[!-]*[rR]*f*,-f*[rR]*,-[!-]*f*[rR]*}', '**'] }]),
  },
  {
    name: 'disks',
    reason: 'security: commands for disks are not allowed',
    commands: [{ argv: anything('{dd,mkfs,mkfs.*,fdisk}') }],
  },
  {
    name: 'power',
    reason: 'security: shutdown and its like are not allowed',
    commands: [{ argv: anything('{shutdown,reboot,halt,poweroff}') }],
  },
  {
    name: 'dangerous-pattern',
    reason:
      'security: fork bombs, downloads piped into a shell, writes to devices, and changes of modes or owners of the whole system are not allowed',
    commands: [{ class: 'blocked' }],
  },
];

const tool = 'execute_bash';

/** Commands refused by the contract. A line with hidden words is held for a person when it may be such a command. */
export const ryanRules: readonly PolicyRule[] = [
  ...forbidden.flatMap(({ name, reason, commands }) =>
    commands.map((command): PolicyRule => ({ name, match: { tool, command }, action: 'deny', reason, surely: true })),
  ),
  {
    name: 'writes-to-devices',
    match: { tool, paths: { globs: ['/dev/shm', '/dev/shm/**'], access: ['write', 'delete'] } },
    action: 'deny',
    reason: 'security: writes to /dev are not allowed',
    surely: true,
  },
  {
    name: 'unreadable-command',
    match: { tool, command: { class: 'unparsed' } },
    action: 'hold',
    reason: 'the command line cannot be parsed, so it may hide a command that is not allowed',
  },
  {
    name: 'hidden-program',
    match: { tool, command: { argv: anything('{sudo,su}') } },
    action: 'hold',
    reason: 'the line does not show which program it starts, which may be one that is not allowed',
  },
];
