import { placesHaving } from '../../harness/find-secret.ts';
import type { System } from '../../harness/system.ts';

/** The places of a text: events, process logs, Redis, blobs and kept outputs. A workspace may have the text on purpose. */
export async function leaksOf(system: System, texts: readonly string[]): Promise<{ text: string; place: string }[]> {
  const found = [];
  for (const text of texts) {
    const forms = [text, JSON.stringify(text).slice(1, -1)].map((form) => Buffer.from(form));
    const has = (content: Buffer) => forms.some((form) => content.includes(form));
    const places = await placesHaving(system, has, { except: isWorkspace });
    found.push(...places.map((place) => ({ text, place })));
  }
  return found;
}

const isWorkspace = (path: string): boolean => /\/runs\/[^/]+\/(trees|shadow\.git)$/.test(path);
