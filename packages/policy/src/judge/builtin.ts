import { type Policy, type PolicyRule, policySchema } from '@holdpoint/contract';
import { defaultCommandTable } from '../command/table/default-table.ts';

const inBuildFolders = defaultCommandTable.paths.buildFolders.flatMap((name) => [`**/${name}`, `**/${name}/**`]);

/** A sub-command, also behind options, for example `-C folder`. */
const git = (...words: string[]): string[][] => [
  ['git', ...words],
  ['git', '-*', '**', ...words],
];

/** Commands that destroy work beyond the reach of every snapshot, or change the machine. */
const dangerous: readonly { name: string; reason: string; argv: readonly string[][] }[] = [
  {
    name: 'changes-user',
    reason: 'it runs as another user',
    argv: ['sudo', 'su', 'doas', 'pkexec', 'runuser'].map((program) => [program, '**']),
  },
  {
    name: 'discards-work',
    reason: 'git would discard work that is not committed, or rewrite what is',
    argv: [
      ...git('{reset,clean,restore,rebase,gc,prune,update-ref,filter-branch,filter-repo}', '**'),
      ...git('checkout', '**', '--', '**'),
      ...git('checkout', '**', '{-f,--force,.}', '**'),
      ...git('{branch,tag}', '**', '{-D,-d,-M,-f,--delete,--force}', '**'),
      ...git('stash', '{drop,clear}', '**'),
      ...git('reflog', '{expire,delete}', '**'),
    ],
  },
  {
    name: 'changes-repositories',
    reason: 'it changes another repository',
    argv: [...git('push', '**'), ['{npm,pnpm,yarn,cargo,gem,poetry,twine}', '**', '{publish,upload}', '**']],
  },
  {
    name: 'changes-machine',
    reason: 'it changes devices, processes or services of the machine',
    argv: [
      ['{dd,fdisk,parted,mkfs,mkfs.*,mkswap,wipefs,mount,umount,insmod,rmmod,modprobe}', '**'],
      ['{shutdown,reboot,halt,poweroff,systemctl,service,crontab,iptables,nft}', '**'],
      ['{kill,killall,pkill,chown,chgrp}', '**'],
    ],
  },
  {
    name: 'destroys-content',
    reason: 'it makes content unreadable',
    argv: [['{shred,truncate,srm}', '**']],
  },
];

const hold = (name: string, match: PolicyRule['match'], reason: string): PolicyRule => ({
  name,
  match,
  action: 'hold',
  reason,
});
const allow = (name: string, match: PolicyRule['match'], reason: string): PolicyRule => ({
  name,
  match,
  action: 'allow',
  reason,
});

/** The rules for calls without a match in the run's own rules, in the language of every policy. Together they match every call. */
export const builtinPolicy: Policy = policySchema.parse({
  rules: [
    hold(
      'unparsed',
      { command: { class: 'unparsed' } },
      'the command line cannot be parsed, so what it does is not known',
    ),
    {
      name: 'catastrophic',
      match: { command: { class: 'blocked' } },
      action: 'deny',
      reason: 'the command would destroy a system',
    },
    ...dangerous.flatMap(({ name, reason, argv }) =>
      argv.map((words) => hold(name, { command: { argv: words } }, reason)),
    ),
    allow(
      'deletes-builds',
      { effect: ['read', 'workspace'], paths: { globs: inBuildFolders, access: 'delete' } },
      'a build makes it again',
    ),
    ...[['mv', '**'], ...git('mv', '**')].map((argv) =>
      allow(
        'moves',
        { effect: ['read', 'workspace'], command: { argv }, paths: ['**'] },
        'what is moved stays in the workspace',
      ),
    ),
    hold('deletes', { paths: { globs: ['**'], access: 'delete' } }, 'it deletes outside of build folders'),
    hold('deletes', { command: { program: ['rm', 'rmdir', 'unlink'] } }, 'it deletes outside of build folders'),
    hold('external', { effect: 'external' }, 'effects outside the workspace are held by default'),
    allow('reads-and-workspace', { effect: ['read', 'workspace'] }, 'nothing outside the staging workspace can change'),
  ],
});
