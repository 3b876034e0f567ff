import type { CommandResult } from '@holdpoint/contract';
import type { EgressProxy } from '@holdpoint/egress';

type Output = { write(stream: 'stdout' | 'stderr', chunk: Buffer): void };

/** What the proxy of a command refused, as lines of its output: programs say at most that a proxy answered 403. */
export function refusalNotes(proxy: Pick<EgressProxy, 'refusals'> | undefined): string {
  return (proxy?.refusals ?? []).map((line) => `[holdpoint] ${line}\n`).join('');
}

/** Adds the notes to the end of what a command printed, and shows them to those who watch it. */
export function withRefusals<Result extends Pick<CommandResult, 'stdout' | 'stderr'>>(
  result: Result,
  { proxy, to, watch }: { proxy: EgressProxy | undefined; to: 'stdout' | 'stderr'; watch?: Output | undefined },
): Result {
  const notes = refusalNotes(proxy);
  if (notes === '') return result;
  watch?.write(to, Buffer.from(notes));
  const { [to]: printed } = result;
  const text = `${printed.text}${printed.text === '' || printed.text.endsWith('\n') ? '' : '\n'}${notes}`;
  return { ...result, [to]: { ...printed, text, bytes: printed.bytes + Buffer.byteLength(notes) } };
}
