import { z } from 'zod';
import { languages } from '../grammars/language.ts';
import { byPath, defineQuestion, globText, pageShape } from './define-question.ts';
import { whyUnparsed } from './unparsed.ts';

export const files = defineQuestion(
  z.strictObject({ path: globText.optional(), language: z.enum(languages).optional(), ...pageShape }),
  (asked, { path, language }) =>
    byPath(
      asked,
      asked.view.paths,
      (one) => {
        const blob = asked.view.blobOf(one);
        if (language !== undefined && blob?.language !== language) return [];
        const unparsed = whyUnparsed(asked.view, one);
        const about = { path: one, language: blob?.language ?? null, bytes: blob?.bytes ?? null };
        return [unparsed === undefined ? { ...about, symbols: blob?.symbols ?? 0 } : { ...about, unparsed }];
      },
      path,
    ),
);
