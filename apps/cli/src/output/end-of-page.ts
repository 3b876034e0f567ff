import type { Page } from '@holdpoint/contract/wire';
import { nameText, oneLine } from '@holdpoint/readable';
import type { Shell } from '../shell/index.ts';

/** Reports the hidden part of a list's page: unreadable entries, and the pages behind. */
export function sayEndOfPage(shell: Pick<Shell, 'say'>, page: Pick<Page<unknown>, 'damaged' | 'next_cursor'>): void {
  sayDamaged(shell, page);
  if (page.next_cursor !== null) shell.say(`There are more: --cursor ${page.next_cursor}`);
}

export function sayDamaged(shell: Pick<Shell, 'say'>, { damaged = [] }: Pick<Page<unknown>, 'damaged'>): void {
  for (const { id, code, detail, next } of damaged) {
    shell.say(`Not shown: ${nameText(id)} (${code}): ${oneLine(detail)}. ${oneLine(next)}`);
  }
}
