import type { PublishPlan } from '@holdpoint/contract/wire';
import { bytes as sizeText } from './bytes.ts';
import type { Colors } from './colors.ts';
import { nameText } from './name-text.ts';
import { table } from './table.ts';

type LeftOut = PublishPlan['left_out'][number];

/** Changes of the run that a publish leaves out, and why. Those that no publish can hold are red. */
export function leftOutText(list: readonly LeftOut[], colors: Colors): string[] {
  if (list.length === 0) return [];
  const rows = list.map(({ path, reason, files, bytes, modified_at = '' }) => [
    path === null ? '… more' : nameText(path),
    reason === 'ignored' || reason === 'excluded' ? reason : colors.red(`${reason}, content unknown`),
    files === 1 ? '1 file' : `${files} files`,
    sizeText(bytes),
    modified_at,
  ]);
  const [, ...lines] = table(['', '', '', '', ''], rows);
  return ['left out:', ...lines.map((line) => `  ${line}`)];
}
