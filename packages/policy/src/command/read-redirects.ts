import type { HereDoc, Redirection } from 'unbash';
import { readWord } from './read-word.ts';
import type { CommandRedirect } from './simple-command.ts';

/** Files opened by redirects, and the standard input contained in the line. */
export function readRedirects(nodes: readonly Redirection[]): {
  redirects: CommandRedirect[];
  text?: string;
  input: boolean;
} {
  const redirects: CommandRedirect[] = [];
  let text: string | undefined;
  let input = false;
  for (const node of nodes) {
    const isInput = !node.descriptor || (node.descriptor.type === 'FileDescriptor' && node.descriptor.value === 0);
    if (node.type === 'Redirect') {
      if (!node.target || isDuplicate(node.operator, node.target.value)) continue;
      const word = readWord(node.target);
      const path = word.value;
      const { operator } = node;
      if (operator === '<' || operator === '<>') redirects.push({ path, access: 'read', static: word.static });
      if (operator === '<>' || !operator.includes('<'))
        redirects.push({ path, access: operator.includes('>>') ? 'append' : 'write', static: word.static });
      if (operator === '<' && isInput) {
        text = undefined;
        input = true;
      }
    } else if (isInput) {
      text = node.type === 'HereDoc' ? readBody(node) : node.target && readStatic(node.target);
      input = true;
    }
  }
  return text === undefined ? { redirects, input } : { redirects, text, input };
}

/** `2>&1`, `>&-`, `<&3-`: another number for an open file. */
function isDuplicate(operator: string, target: string): boolean {
  if (operator === '<&') return true;
  return operator === '>&' && [...target].every((sign) => (sign >= '0' && sign <= '9') || sign === '-');
}

function readStatic(target: Parameters<typeof readWord>[0]): string | undefined {
  const word = readWord(target);
  return word.static ? word.value : undefined;
}

function readBody({ body, delimiter }: HereDoc): string | undefined {
  if (delimiter?.quoted) return body.text;
  if (body.parts?.some((part) => part.type !== 'Literal')) return undefined;
  return body.text.includes('\\') ? undefined : body.text;
}
