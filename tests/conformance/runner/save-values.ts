import { type Found, show } from './match.ts';
import { locate } from './pointer.ts';

/** Keeps the values behind the pointers, as texts. @throws where there is none */
export function saveValues(values: Map<string, string>, save: Readonly<Record<string, string>>, result: Found): void {
  for (const [name, pointer] of Object.entries(save)) {
    const [{ found } = { found: undefined }] = locate(result, pointer);
    if (typeof found !== 'string' && typeof found !== 'number') {
      throw new Error(`the set-up saves ${pointer} of ${show(result)}, which is no text`);
    }
    values.set(name, String(found));
  }
}
