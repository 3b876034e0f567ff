import type { Approval } from '@holdpoint/client/wire/approval';
import type { UnknownContent } from '@holdpoint/client/wire/snapshot';
import { bytes as sizeText } from './bytes.ts';
import type { Colors } from './colors.ts';
import { nameText } from './name-text.ts';
import { oneLine } from './plain.ts';
import { table } from './table.ts';
import { ago } from './time.ts';

/** What is in the workspace and nothing can show. */
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

/** Background commands that may still change what an approval shows. */
export function mayWriteText({ may_write }: Approval, { colors, now }: { colors: Colors; now: number }): string[] {
  if (may_write.length === 0) return [];
  const rows = may_write.map(({ task_id, command, status, since }) => [
    task_id,
    since === null ? status : `${status} since ${ago(since, now)}`,
    oneLine(command, 100),
  ]);
  const [, ...lines] = table(['', '', ''], rows);
  return [
    colors.yellow('may still change the files (the call asks again when they do before it begins):'),
    ...lines.map((line) => `  ${line}`),
  ];
}

/** Why a call that was decided asks again. */
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
  ];
}
