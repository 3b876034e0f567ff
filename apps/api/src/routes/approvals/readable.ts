import type { Json } from '@holdpoint/contract';
import type { Approval } from '@holdpoint/contract/wire';
import { codeText, cut, cutValue, hasHidden } from '@holdpoint/readable';

/** More characters of JSON text are not shown with an approval: see its content. */
const mostShown = 32 * 1024;

type Shown = Pick<Approval, 'action' | 'preview' | 'readable'>;

/** The form for a person: long values cut with a note, and every character visible. */
export function readable({ action, preview }: Pick<Approval, 'action' | 'preview'>, isWhole: boolean): Shown {
  const args = isWhole ? action.args : cutArgs(action.args);
  const shown = isWhole ? preview : (cutValue(preview, mostShown) as typeof preview);
  return {
    action: { ...action, args },
    preview: shown,
    readable: {
      action: cut(codeText(`${action.toolset}/${action.tool} ${JSON.stringify(args)}`), 500),
      args: jsonText(args),
      preview: shown === null ? null : jsonText(shown),
      hidden: [action.tool, ...textsOf(action.args), ...textsOf(preview)].some(hasHidden),
    },
  };
}

export const cutArgs = (args: Json): Json => cutValue(args, mostShown) as Json;

/**
 * A person reads a script or a patch with its line ends, not its JSON escapes. Each line of such a text begins with a bar: no text looks
 * like another field.
 */
export function jsonText(value: unknown, indent = ''): string {
  if (typeof value === 'string' && value.includes('\n')) {
    return codeText(value)
      .split('\n')
      .map((line) => `${indent}| ${line}`)
      .join('\n');
  }
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) {
    return `${indent}${codeText(JSON.stringify(value) ?? 'null')}`;
  }
  return Object.entries(value)
    .map(([name, inner]) => {
      const label = `${indent}${/^[\w-]+$/.test(name) ? name : codeText(JSON.stringify(name))}:`;
      const text = jsonText(inner, `${indent}  `);
      return text.includes('\n') || (typeof inner === 'object' && inner !== null)
        ? `${label}\n${text}`
        : `${label} ${text.trimStart()}`;
    })
    .join('\n');
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...textsOf(inner)]);
}
