import { openExtractor } from '../extract/open-extractor.ts';
import type { FileFacts, ImportFact } from '../facts.ts';
import type { Language } from '../grammars/grammar-of.ts';

let opened: ReturnType<typeof openExtractor> | undefined;

/** The facts of a text, with one parser for all tests of a file. */
async function readFacts(language: Language, text: string | Uint8Array): Promise<FileFacts> {
  opened ??= openExtractor();
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  const facts = await (await opened).extract(
    { path: 'file', language, bytes },
    { timeoutMs: 60_000, maxFacts: 20_000 },
  );
  if ('unparsed' in facts) throw new Error(`not parsed: ${facts.unparsed}`);
  return facts;
}

/** One line for each fact: `function a.b`, `+class C as default` (exported), `./x {a, b as c} as d`, `call x.y`. */
export async function readLines(language: Language, text: string) {
  const { symbols, imports, references, has_errors } = await readFacts(language, text);
  return {
    symbols: symbols.map(({ name, kind, container, exported, exported_as }) => {
      const as = exported_as ? ` as ${exported_as.join(', ')}` : '';
      return `${exported ? '+' : ''}${kind} ${[...container, name].join('.')}${as}`;
    }),
    imports: imports.map(importLine),
    references: references.map(({ kind, qualifier, name }) => `${kind} ${qualifier ? `${qualifier}.` : ''}${name}`),
    ...(has_errors && { has_errors }),
  };
}

function importLine({ source, names, whole, reexport }: ImportFact): string {
  const list = names.map(({ name, as }) => (name === as ? name : `${name} as ${as}`));
  const brought = names.length > 0 ? ` {${list.join(', ')}}` : '';
  return `${reexport ? '+' : ''}${source}${brought}${whole === undefined ? '' : ` as ${whole}`}`;
}
