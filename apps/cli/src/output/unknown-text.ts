import type { UnknownContent } from '@holdpoint/contract';
import type { Approval } from '@holdpoint/contract/wire';
import { nameText, oneLine, plain } from '@holdpoint/readable';
import type { Colors } from '../shell/index.ts';
import { table } from './layout.ts';
import { ago, counted, bytes as sizeText } from './units.ts';

/** Files whose content no snapshot holds. */
export function unknownText(list: readonly UnknownContent[], colors: Colors): string[] {
  if (list.length === 0) return [];
  const rows = list.map(({ path, reason, bytes, modified_at }) => [
    nameText(path),
    colors.red(reason),
    sizeText(bytes),
    modified_at ?? '',
  ]);
  const [, ...lines] = table(['', '', '', ''], rows);
  return ['content unknown:', ...lines.map((line) => `  ${line}`)];
}

/** Background commands with the power to change the shown files. */
export function mayWriteText({ may_write }: Approval, { colors, now }: { colors: Colors; now: number }): string[] {
  if (may_write.length === 0) return [];
  const rows = may_write.map(({ task_id, command, status, since }) => [
    task_id,
    since === null ? status : `${status} since ${ago(since, now)}`,
    oneLine(command, 100),
  ]);
  const [, ...lines] = table(['', '', ''], rows);
  return [
    colors.yellow('these commands may still change the files (the call then asks again):'),
    ...lines.map((line) => `  ${line}`),
  ];
}

/** A warning: the shown facts about files may be incomplete. */
export function unreadText({ files_unread }: Pick<Approval, 'files_unread'>, colors: Colors): string[] {
  if (files_unread === null) return [];
  return [
    colors.red('the files of this call could not be looked at, so more may be hidden than is shown here:'),
    `  ${oneLine(files_unread)}`,
  ];
}

/** Repositories made or changed by the run: git obeys their configuration, and no diff of the files shows the configuration. */
export function repositoriesText({ repositories }: Pick<Approval, 'repositories'>, colors: Colors): string[] {
  if (repositories.length === 0) return [];
  return [
    colors.yellow('repositories that the run made or changed (not in the diff):'),
    ...repositories.flatMap(({ path, files, bytes, configuration }) => {
      const name = path === null ? 'others' : nameText(path);
      const head = `  ${name}  ${counted(files, 'file')}, ${sizeText(bytes)}`;
      if (configuration === null) return [head];
      const where = path === null ? 'in them' : `in ${nameText(path.replace(/\.git\/?$/i, ''))}`;
      return [
        head,
        colors.red(`    git commands ${where} run programs that its configuration names:`),
        ...plain(configuration)
          .split('\n')
          .map((line) => `      ${line}`),
      ];
    }),
  ];
}

/** Why an approved call asks again. */
export function changedText({ changed }: Approval, colors: Colors): string[] {
  if (changed === null) return [];
  const rows = changed.changes.map(({ path, change }) => [
    change === 'unknown' ? 'content unknown' : change,
    nameText(path),
  ]);
  const [, ...lines] = table(['', ''], rows);
  const more = changed.total - changed.changes.length;
  return [
    colors.yellow(`changed since the decision on ${changed.approval_id}, so nothing ran:`),
    ...lines.map((line) => `  ${line}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
    ...(changed.uses === undefined ? [] : ['  the merged files of the sub-agent: see below']),
  ];
}
