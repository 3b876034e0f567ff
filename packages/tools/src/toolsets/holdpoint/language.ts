import { z } from 'zod';
import { findPlaces } from '../../operations/ask-language.ts';
import { previewRename, renameSymbol } from '../../operations/rename-symbol.ts';
import { pathArgument, touchedPaths } from '../../operations/touched.ts';
import { renderPatch } from '../../result-text/changed-file.ts';
import { renderPlaces } from '../../result-text/places.ts';
import { builtInTool } from '../built-in-tool.ts';

const named = {
  path: pathArgument.describe('File, relative to the workspace root'),
  line: z.int().min(1).describe('Line of the file that has the name'),
  symbol: z.string().min(1).max(200).describe('The name, as on that line'),
};

export const definition = builtInTool({
  name: 'definition',
  description:
    "Finds where a name is declared, by the project's language server, also in libraries. Needs a server for the language: code_graph and grep work without.",
  effect: 'read',
  risk: 'low',
  input: z.strictObject(named),
  touches: ({ path }) => touchedPaths('read', path),
  render: renderPlaces,
  execute: (context, args) => findPlaces(context, 'definition', args),
});

export const references = builtInTool({
  name: 'references',
  description:
    "Finds every use of a name, by the project's language server: no other thing with the same name is among them.",
  effect: 'read',
  risk: 'low',
  input: z.strictObject(named),
  touches: ({ path }) => touchedPaths('read', path),
  render: renderPlaces,
  execute: (context, args) => findPlaces(context, 'references', args),
});

/** A name of any language, with the `#` of private members. */
const identifier = /^#?[\p{ID_Start}_$][\p{ID_Continue}$]*$/u;

export const rename = builtInTool({
  name: 'rename',
  description:
    "Renames a symbol at all of its places in all files, by the project's language server: all of them, or none. Text in strings and comments stays. The result shows the changes as a diff.",
  effect: 'workspace',
  risk: 'medium',
  input: z.strictObject({
    ...named,
    new_name: z.string().max(200).regex(identifier, 'a name has letters, digits, _ and $ only'),
  }),
  // Any file may have the name.
  touches: () => ({ paths: [{ path: '.', access: 'write', recursive: true }] }),
  render: renderPatch,
  execute: renameSymbol,
  preview: previewRename,
});
