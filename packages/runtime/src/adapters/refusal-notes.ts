import type { CommandResult } from '@holdpoint/contract';
import type { EgressProxy } from '@holdpoint/egress';

type Output = { write(stream: 'stdout' | 'stderr', chunk: Buffer): void };

/** Refusals of a command's proxy, as lines of output: programs report at most the status 403 of a proxy. */
export function refusalNotes(proxy: Pick<EgressProxy, 'refusals'> | undefined): string {
  return (proxy?.refusals ?? []).map((line) => `[holdpoint] ${line}\n`).join('');
}

/** Adds the notes to the end of a command's output, and shows the notes to watchers of the output. */
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
