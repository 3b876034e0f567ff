import { z } from 'zod';
import type { View } from '../view/view.ts';
import { byPath, defineQuestion, globText, pageShape } from './define-question.ts';

/** Why a file has no facts. The reasons from `binary` on come from the parser. */
export const unparsedReasons = [
  ...['link', 'unknown_language', 'too_large', 'binary', 'minified', 'generated', 'timeout', 'parser_failed'],
] as const;

export const unparsed = defineQuestion(
  z.strictObject({ path: globText.optional(), reason: z.enum(unparsedReasons).optional(), ...pageShape }),
  (asked, { path, reason }) =>
    byPath(
      asked,
      asked.view.paths,
      (one) => {
        const why = whyUnparsed(asked.view, one);
        if (why === undefined || (reason !== undefined && why !== reason)) return [];
        return [{ path: one, reason: why, bytes: asked.view.blobOf(one)?.bytes ?? null }];
      },
      path,
    ),
);

/** Undefined for a file with facts. */
export function whyUnparsed(view: View, path: string): string | undefined {
  if (view.file(path)?.isLink) return 'link';
  const blob = view.blobOf(path);
  return blob === undefined ? 'unknown_language' : (blob.reason ?? undefined);
}
