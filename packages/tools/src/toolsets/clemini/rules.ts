import type { PolicyRule } from '@holdpoint/contract';
import type { Caution } from '../../toolset.ts';

const tool = 'bash';

const refuse = (name: string, reason: string, program?: string): PolicyRule => ({
  name,
  match: { tool, command: program === undefined ? { class: 'blocked' } : { class: 'blocked', program } },
  action: 'deny',
  reason,
  surely: true,
});

/**
 * A redirection or a program that writes, before a start-up file of a home directory in the same command. The rule reads the text of the line: the
 * parsed paths do not say where a home directory is.
 */
const writesStartUpFile = [
  '(>|(^|[^\\w./-])(tee|cp|mv|ln|install|dd|truncate|sed)\\s)[^;&|\\n]*',
  '(~\\w*|\\$\\{?HOME\\}?|/root|/home/[^/\\s]+)["\']?/["\']?',
  '\\.(bashrc|bash_profile|bash_login|bash_logout|profile|zshrc|zshenv|zprofile|zlogin|kshrc|config/fish/)',
].join('');

/** Commands forbidden even when confirmed. The first matching rule gives the reason. */
export const cleminiRules: readonly PolicyRule[] = [
  refuse('recursive-removal', 'recursive delete on root', '{rm,find}'),
  refuse('disks', 'it would destroy a disk or a file system', '{dd,mkfs,mkfs.*,mke2fs,mkswap,wipefs,blkdiscard}'),
  {
    name: 'raw-copies',
    match: { tool, command: { argv: ['dd', '**', 'if=**', '**'] } },
    action: 'deny',
    reason: 'dd copies raw data over whatever it is given',
    surely: true,
  },
  {
    name: 'start-up-files',
    match: { tool, args: { '/command': { regex: writesStartUpFile } } },
    action: 'deny',
    reason: 'it would change a start-up file of the shell',
    surely: true,
  },
  refuse('power', 'it would stop the machine', '{shutdown,reboot,halt,poweroff,init,telinit,systemctl,kill,killall5}'),
  refuse('dangerous-pattern', 'a fork bomb, a download that a shell runs, or a change of the whole system'),
];

/** A sub-command, also behind options, for example `-C folder`. */
const behind = (program: string, ...words: string[]): string[][] => [
  [program, ...words],
  [program, '-*', '**', ...words],
];

const careful: readonly { name: string; reason: string; commands: readonly string[][] }[] = [
  {
    name: 'deletes',
    reason: 'it deletes or destroys files',
    commands: [
      ['{rm,rmdir,unlink,shred,truncate,srm,dd}', '**'],
      ['find', '**', '-delete', '**'],
    ],
  },
  { name: 'moves', reason: 'it moves files, over what lies at their target', commands: [['mv', '**']] },
  {
    name: 'permissions',
    reason: 'it changes permissions or owners',
    commands: [['{chmod,chown,chgrp,setfacl}', '**']],
  },
  { name: 'other-user', reason: 'it runs as another user', commands: [['{sudo,su,doas,pkexec,runuser}', '**']] },
  {
    name: 'processes',
    reason: 'it ends processes or changes the machine',
    commands: [
      ['{kill,killall,pkill,shutdown,reboot,halt,poweroff,systemctl,service}', '**'],
      ['{mkfs,mkfs.*,fdisk,parted,mount,umount,iptables,nft,crontab}', '**'],
    ],
  },
  {
    name: 'containers',
    reason: 'it removes or stops containers, images or resources of a cluster',
    commands: [
      ...behind('{docker,podman}', '{rm,rmi,kill,stop,prune}', '**'),
      ...behind(
        '{docker,podman}',
        '{container,image,volume,network,system,builder,compose}',
        '**',
        '{rm,prune,kill,stop,down}',
        '**',
      ),
      ['{docker-compose,podman-compose}', '**', '{rm,down,kill,stop}', '**'],
      ['{kubectl,helm,terraform}', '**', '{delete,uninstall,destroy}', '**'],
    ],
  },
  {
    name: 'repositories',
    reason: 'git would discard work or change another repository',
    commands: [
      ...behind('git', '{push,clean,restore,rebase,filter-branch,filter-repo,gc,prune,update-ref}', '**'),
      ...behind('git', 'reset', '**', '--hard', '**'),
      ...behind('git', 'checkout', '**', '{--,-f,--force,.}', '**'),
      ...behind('git', '{branch,tag}', '**', '{-D,-d,-M,-f,--delete,--force}', '**'),
      ...behind('git', 'stash', '{drop,clear}', '**'),
    ],
  },
  {
    name: 'publishes',
    reason: 'it publishes a package',
    commands: [['{npm,pnpm,yarn,cargo,gem,poetry,twine}', '**', '{publish,upload}', '**']],
  },
];

/** Commands in need of a confirmation. A command with hidden words counts when it may be a careful command. */
export const cleminiCautions: readonly Caution[] = [
  ...careful.flatMap(({ name, reason, commands }) =>
    commands.map((argv): Caution => ({ name, match: { tool, command: { argv } }, reason })),
  ),
];
