import type { CommandEnd } from '@holdpoint/contract';

/** Why a command was killed that took too much; half a sentence. */
export function quotaText({ quota, limit }: Extract<CommandEnd, { status: 'quota' }>): string {
  if (quota === 'disk') return `it wrote most while the free space of the disk fell towards ${limit} bytes`;
  return `it passed its ${quota} limit of ${limit}`;
}
