import type { Toolchain } from '@holdpoint/contract';

/** The version of a language wanted by a project. */
export interface Wanted {
  language: Toolchain['language'];
  /** The version as written in the file. */
  text: string;
  by: string;
  /** A range of semantic versions; undefined: the text names no comparable version. */
  range: string | undefined;
}

/** Files at the root of a project, in order of precedence. */
const files: { name: string; read: (content: string) => Omit<Wanted, 'by'>[] }[] = [
  { name: '.nvmrc', read: (content) => nodeVersion(firstLine(content)) },
  { name: '.node-version', read: (content) => nodeVersion(firstLine(content)) },
  { name: '.python-version', read: (content) => pythonVersion(firstLine(content)) },
  { name: '.tool-versions', read: toolVersions },
  { name: 'package.json', read: engines },
  { name: 'pyproject.toml', read: requiresPython },
];

export const versionFiles = files.map(({ name }) => name);

/** @param contents contents of the project's version files, by name */
export function readWanted(contents: ReadonlyMap<string, string>): Wanted[] {
  const found = files.flatMap(({ name, read }) =>
    read(contents.get(name) ?? '').map((one): Wanted => ({ ...one, by: name, text: one.text.slice(0, longestText) })),
  );
  return found.filter(({ language }, index) => found.findIndex((one) => one.language === language) === index);
}

const longestText = 100;

const firstLine = (content: string): string =>
  content
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim())
    .find((line) => line !== '') ?? '';

/** Names of long-term releases in an .nvmrc. */
const codenames: Record<string, number> = {
  ...{ argon: 4, boron: 6, carbon: 8, dubnium: 10, erbium: 12, fermium: 14, gallium: 16, hydrogen: 18 },
  ...{ iron: 20, jod: 22, krypton: 24 },
};
const longTerm = '18 || 20 || 22 || 24 || 26';

function nodeVersion(text: string): Omit<Wanted, 'by'>[] {
  if (text === '' || text === 'system') return [];
  const plain = text.replace(/^v(?=\d)/, '');
  const codename = /^lts\/(\w+)$/.exec(text)?.[1];
  const range = /^\d+(\.\d+)*$/.test(plain)
    ? plain
    : ['node', 'stable', 'latest', 'current'].includes(text)
      ? '*'
      : text === 'lts/*' || text === 'lts'
        ? longTerm
        : codename === undefined
          ? undefined
          : codenames[codename]?.toString();
  return [{ language: 'node', text, range }];
}

function pythonVersion(text: string): Omit<Wanted, 'by'>[] {
  if (text === '' || text === 'system') return [];
  return [{ language: 'python', text, range: /^\d+(\.\d+)*$/.test(text) ? text : undefined }];
}

function toolVersions(content: string): Omit<Wanted, 'by'>[] {
  return content.split('\n').flatMap((line) => {
    const [tool, version = ''] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (tool === 'nodejs' || tool === 'node') return nodeVersion(version);
    return tool === 'python' ? pythonVersion(version) : [];
  });
}

function engines(content: string): Omit<Wanted, 'by'>[] {
  const node: unknown = parsed(content)?.engines?.node;
  return typeof node === 'string' && node.trim() !== '' ? [{ language: 'node', text: node, range: node }] : [];
}

/** Every part is a guess: the file is whatever the project holds. */
function parsed(content: string): { engines?: { node?: unknown } } | undefined {
  try {
    const value: unknown = JSON.parse(content);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function requiresPython(content: string): Omit<Wanted, 'by'>[] {
  const project = /^\s*requires-python\s*=\s*["']([^"'\n]{1,200})["']/m.exec(content)?.[1];
  const poetry = /^\s*python\s*=\s*["']([^"'\n]{1,200})["']/m.exec(content)?.[1];
  const text = project ?? poetry;
  return text === undefined ? [] : [{ language: 'python', text, range: rangeOf(text) }];
}

/** A specifier of PEP 440 as a range of semantic versions. Exclusions of single versions are left out. */
function rangeOf(text: string): string {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '' && !part.startsWith('!='))
    .map((part) => {
      const compatible = /^~=\s*(\d+)\.(\d+)(\.\d+)?$/.exec(part);
      if (compatible) {
        const [, major = '', minor = '', patch] = compatible;
        const next = patch === undefined ? `${Number(major) + 1}` : `${major}.${Number(minor) + 1}`;
        return `>=${major}.${minor}${patch ?? ''} <${next}`;
      }
      return part.replace(/^={2,3}\s*/, '').replace(/\.\*$/, '.x');
    })
    .join(' ');
}
