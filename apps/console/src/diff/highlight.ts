import { common, createLowlight } from 'lowlight';
import type { FileDiff } from './diff-lines.ts';

/** A piece of a line with the class of its colour. */
export interface Token {
  text: string;
  className: string;
}
/** The coloured lines of each side, by line number. */
export interface Coloured {
  old: ReadonlyMap<number, Token[]>;
  new: ReadonlyMap<number, Token[]>;
}

const lowlight = createLowlight(common);
const languages: Record<string, string> = {
  ...{ js: 'javascript', mjs: 'javascript', cjs: 'javascript', jsx: 'javascript', ts: 'typescript', tsx: 'typescript' },
  ...{ py: 'python', json: 'json', yaml: 'yaml', yml: 'yaml', sh: 'bash', bash: 'bash', go: 'go', rs: 'rust' },
  ...{ java: 'java', css: 'css', html: 'xml', xml: 'xml', svg: 'xml', md: 'markdown', sql: 'sql', c: 'c', h: 'c' },
};
/** Each character costs about a microsecond. */
const longest = 100_000;

/** Colours of a file's lines. undefined: the language is not known, or the file is too long to colour. */
export function colour({ path, hunks }: Pick<FileDiff, 'path' | 'hunks'>): Coloured | undefined {
  const language = languages[/\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? ''];
  if (language === undefined) return undefined;
  const coloured = { old: new Map<number, Token[]>(), new: new Map<number, Token[]>() };
  let length = 0;
  for (const hunk of hunks) {
    for (const [side, sign, start] of [
      ['old', '-', hunk.old_start],
      ['new', '+', hunk.new_start],
    ] as const) {
      const lines = hunk.lines.filter((line) => line[0] === ' ' || line[0] === sign).map((line) => line.slice(1));
      const text = lines.join('\n');
      length += text.length;
      if (length > longest) return undefined;
      for (const [at, tokens] of linesOf(language, text).entries()) coloured[side].set(start + at, tokens);
    }
  }
  return coloured;
}

type Node = ReturnType<typeof lowlight.highlight>['children'][number];

function linesOf(language: string, text: string): Token[][] {
  const lines: Token[][] = [[]];
  const visit = (nodes: readonly Node[], className: string): void => {
    for (const node of nodes) {
      if (node.type === 'element') visit(node.children as Node[], classOf(node.properties.className) || className);
      if (node.type !== 'text') continue;
      for (const [at, part] of node.value.split('\n').entries()) {
        if (at > 0) lines.push([]);
        if (part !== '') lines.at(-1)?.push({ text: part, className });
      }
    }
  };
  visit(lowlight.highlight(language, text).children, '');
  return lines;
}

const classOf = (names: unknown): string => (Array.isArray(names) ? String(names[0] ?? '') : '');
