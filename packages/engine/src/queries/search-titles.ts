import type { EngineDeps } from '../deps.ts';
import { runField } from '../domain/fields/run.ts';
import { stateKey } from '../log/index.ts';

/** A search by title reads the titles of this many runs per page. */
export const mostSearched = 2000;

/** The runs with a title that has this part. Reads titles alone; an unreadable run stays, for the reader to name. */
export async function titled(
  { redis }: Pick<EngineDeps, 'redis'>,
  ids: readonly string[],
  part: string,
): Promise<string[]> {
  const wanted = folded(part);
  const replies = (await redis.pipeline(ids.map((id) => ['hget', stateKey(id), runField.header.name])).exec()) ?? [];
  return ids.filter((_, at) => {
    const [error, header] = replies[at] ?? [];
    if (error) throw error;
    const title = titleOf(header as string | null);
    return title === undefined || folded(title).includes(wanted);
  });
}

function titleOf(header: string | null): string | undefined {
  try {
    const { title } = JSON.parse(header ?? '{}') as { title?: unknown };
    return typeof title === 'string' ? title : undefined;
  } catch {
    return undefined;
  }
}

const folded = (text: string): string => text.normalize('NFC').toLowerCase();
