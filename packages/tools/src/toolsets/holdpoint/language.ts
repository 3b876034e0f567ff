import { z } from 'zod';
import { findPlaces, previewRename, renameSymbol } from '../../operations/ask-language.ts';
import { pathArgument, touchedPaths } from '../../operations/touched.ts';
import { renderRename } from '../../result-text/changed-file.ts';
import { renderPlaces } from '../../result-text/places.ts';
import { builtInTool } from '../built-in-tool.ts';

const named = {
  path: pathArgument,
  line: z.int().min(1).max(1_000_000_000).describe('Line that has the name'),
  symbol: z.string().min(1).max(200).describe('The name'),
};

export const definition = builtInTool({
  name: 'definition',
  description: "Finds where a name is declared, also in libraries, by the project's language server.",
  effect: 'read',
  risk: 'low',
  input: z.strictObject(named),
  touches: ({ path }) => touchedPaths('read', path),
  render: renderPlaces,
  execute: (context, args) => findPlaces(context, 'definition', args),
});

export const references = builtInTool({
  name: 'references',
  description: "Finds every use of a name, and of no other thing with the same name, by the project's language server.",
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
    "Renames a symbol in all files at once, by the project's language server. Strings and comments stay as they are.",
  effect: 'workspace',
  risk: 'medium',
  input: z.strictObject({
    ...named,
    new_name: z.string().max(200).regex(identifier, 'a name has letters, digits, _ and $ only'),
  }),
  // Any file may have the name.
  touches: () => ({ paths: [{ path: '.', access: 'write', recursive: true }] }),
  render: renderRename,
  execute: renameSymbol,
  preview: previewRename,
});
