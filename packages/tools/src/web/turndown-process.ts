import { json } from 'node:stream/consumers';
import { gfm } from '@joplin/turndown-plugin-gfm';
import TurndownService from 'turndown';

// A process of its own: one page on standard input, its Markdown on standard output. Its input is `runTurndown`'s own, and no schema
// checks it: loading one takes longer than most pages.
const { html, max_chars } = (await json(process.stdin)) as { html: string; max_chars: number };
process.stdout.write(JSON.stringify(convert()));

function convert() {
  try {
    const markdown = createTurndown().turndown(html);
    return { ok: true, markdown: markdown.slice(0, max_chars), complete: markdown.length <= max_chars };
  } catch (error) {
    return { ok: false, reason: `it failed (${error instanceof Error ? error.message : String(error)})` };
  }
}

function createTurndown(): TurndownService {
  const service = new TurndownService({
    headingStyle: 'atx',
    hr: '---',
    bulletListMarker: '-',
    codeBlockStyle: 'fenced',
    emDelimiter: '*',
  });
  service.use(gfm);
  // The plugin writes `||` as `|`, and looks for each cell among all of its row.
  service.addRule('cell', {
    filter: ['td', 'th'],
    replacement: (content, node) =>
      `${node.previousSibling ? '' : '|'} ${content.trim().replaceAll('|', '\\|').replaceAll(/ *\n+/g, '<br>')} |`,
  });
  service.addRule('rows', { filter: keepRows, replacement: (content) => content });
  service.addRule('raised', {
    filter: ['sup', 'sub'],
    replacement: (content, { nodeName }) => `<${nodeName.toLowerCase()}>${content}</${nodeName.toLowerCase()}>`,
  });
  const own = service.escape.bind(service);
  // Within a word it is no mark, and names are copied from what is read.
  service.escape = (text) => own(text).replaceAll(/(?<=[\p{L}\p{N}_])\\_(?=[\p{L}\p{N}\\])/gu, '_');
  return service;
}

/**
 * A filter that takes nothing: it is asked of a table before the plugin is. The plugin asks for the rows once per cell, and each time they
 * are looked for in the whole table: 1000 rows of 5 cells took over 5 s, and take 0.2 s when they are found once.
 */
function keepRows(node: { nodeName: string; rows?: ArrayLike<object> }): boolean {
  if (node.nodeName === 'TABLE' && node.rows) Object.defineProperty(node, 'rows', { value: Array.from(node.rows) });
  return false;
}
