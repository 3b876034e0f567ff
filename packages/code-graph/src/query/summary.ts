import { z } from 'zod';
import { defineQuestion, globText, pageShape, pathFilter } from './define-question.ts';
import type { Row } from './row.ts';
import { whyUnparsed } from './unparsed.ts';

/** Files, bytes and symbols by language; files by the reason why they are not parsed. */
export const summary = defineQuestion(
  z.strictObject({ path: globText.optional(), ...pageShape }),
  ({ view, isReadable }, { path }) => {
    const fits = path === undefined ? undefined : pathFilter(path);
    const rows = (): Row[] => {
      const languages = new Map<string, { files: number; bytes: number; symbols: number }>();
      const reasons = new Map<string, number>();
      for (const one of view.paths) {
        if (!isReadable(one) || fits?.(one) === false) continue;
        const why = whyUnparsed(view, one);
        const { language, bytes = 0, symbols = 0 } = view.blobOf(one) ?? {};
        if (why !== undefined) reasons.set(why, (reasons.get(why) ?? 0) + 1);
        else if (typeof language === 'string') {
          const sum = languages.get(language) ?? { files: 0, bytes: 0, symbols: 0 };
          languages.set(language, { files: sum.files + 1, bytes: sum.bytes + bytes, symbols: sum.symbols + symbols });
        }
      }
      return [
        ...[...languages].sort(byName).map(([language, sum]) => ({ language, ...sum })),
        ...[...reasons].sort(byName).map(([unparsed, files]) => ({ unparsed, files })),
      ];
    };
    return [{ key: '', rows }];
  },
);

const byName = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1);
