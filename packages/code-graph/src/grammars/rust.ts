import type { Node } from '@vscode/tree-sitter-wasm';
import type { Declaration, Grammar, WrittenImport } from './grammar.ts';

const query = `
[(function_item name: (_) @name) (function_signature_item name: (_) @name)] @symbol.function
[(struct_item name: (_) @name) (union_item name: (_) @name)] @symbol.class
(enum_item name: (_) @name) @symbol.enum
(enum_variant name: (_) @name) @symbol.field
(struct_item body: (field_declaration_list (field_declaration name: (_) @name) @symbol.field))
(union_item body: (field_declaration_list (field_declaration name: (_) @name) @symbol.field))
(trait_item name: (_) @name) @symbol.interface
[(type_item name: (_) @name) (associated_type name: (_) @name)] @symbol.type
(const_item name: (_) @name) @symbol.constant
(static_item name: (_) @name) @symbol.variable
(macro_definition name: (_) @name) @symbol.function
(mod_item name: (_) @name body: (_)) @symbol.module
(impl_item type: (_) @name) @scope
(impl_item trait: (_)) @mark.trait
[(closure_expression) (block)] @block

(let_declaration pattern: (identifier) @local)
(parameter pattern: (identifier) @local)
(closure_parameters (identifier) @local)
(for_expression pattern: (identifier) @local)
(mut_pattern (identifier) @local)
(ref_pattern (identifier) @local)
(tuple_pattern (identifier) @local)
(tuple_struct_pattern type: (_) (identifier) @local (#match? @local "^[a-z_]"))
(field_pattern name: (shorthand_field_identifier) @local)
(field_pattern pattern: (identifier) @local)
(match_pattern (identifier) @local (#match? @local "^[a-z_]"))
(type_parameter name: (type_identifier) @local)
(attribute (identifier) @drop)

(use_declaration) @import
(extern_crate_declaration) @import
(mod_item name: (_) !body) @import

(trait_item bounds: (trait_bounds (type_identifier) @extends))
(impl_item trait: (type_identifier) @extends)
(impl_item trait: (generic_type type: (type_identifier) @extends))
(impl_item trait: (scoped_type_identifier path: (_) @qualifier name: (type_identifier) @extends))
(call_expression function: (identifier) @call)
(call_expression function: (scoped_identifier path: (_) @qualifier name: (identifier) @call))
(call_expression function: (field_expression value: (_) @qualifier field: (field_identifier) @call))
(generic_function function: (identifier) @call)
(generic_function function: (scoped_identifier path: (_) @qualifier name: (identifier) @call))
(generic_function function: (field_expression value: (_) @qualifier field: (field_identifier) @call))
(macro_invocation macro: (identifier) @call)
(macro_invocation macro: (scoped_identifier path: (_) @qualifier name: (identifier) @call))
(scoped_type_identifier path: (_) @qualifier name: (type_identifier) @type)
(type_identifier) @type
(scoped_identifier path: (_) @qualifier name: (identifier) @value)
(field_expression value: (self) @qualifier field: (field_identifier) @value)
(identifier) @value
`;

export const rust: Grammar = {
  wasm: 'tree-sitter-rust.wasm',
  query,
  readImports,
  outsideModules,
  isExported,
  seesOtherFiles: false,
  self: ['self', 'Self'],
  builtins: new Set(['Self']),
};

/** Members of a trait, of its implementations and variants of an enum are as visible as their owner. */
function isExported({ kind, head, parent }: Declaration): boolean {
  if (parent?.kind === 'function' || parent?.kind === 'method') return false;
  if (parent?.kind === 'interface' || parent?.kind === 'enum') return parent.exported;
  if (parent?.kind === 'scope' && parent.exported) return true;
  return /\bpub\b/.test(head) || (kind === 'function' && /\bmacro_rules\b/.test(head));
}

/** In `mod tests { use super::a; }` the file has `a`. */
function outsideModules(source: string, modules: readonly string[]): string {
  const parts = source.split('::');
  const isRelative = parts[0] === 'super' || parts[0] === 'self';
  if (!isRelative) return source;
  const inner = [...modules];
  const rest = [...parts];
  if (rest[0] === 'self') rest.shift();
  while (rest[0] === 'super' && inner.pop() !== undefined) rest.shift();
  return rest[0] === 'super' ? rest.join('::') : ['self', ...inner, ...rest].join('::');
}

function readImports(node: Node): WrittenImport[] {
  const reexport = node.namedChildren.some((child) => child?.type === 'visibility_modifier');
  if (node.type === 'mod_item') {
    const name = node.childForFieldName('name')?.text ?? '';
    return [{ source: `self::${name}`, names: [], whole: name, reexport }];
  }
  if (node.type === 'extern_crate_declaration') {
    const source = node.childForFieldName('name')?.text ?? '';
    return [{ source, names: [], whole: node.childForFieldName('alias')?.text ?? source, reexport }];
  }
  const tree = node.childForFieldName('argument');
  return tree ? readUseTree(tree, '', 0).map((one) => ({ ...one, reexport })) : [];
}

/** Deeper trees are not written by people. */
const maxNesting = 20;

function readUseTree(tree: Node, prefix: string, depth: number): Omit<WrittenImport, 'reexport'>[] {
  if (depth > maxNesting) return [];
  const inside = (list: Node, path: string) =>
    list.namedChildren.flatMap((child) => (child ? readUseTree(child, path, depth + 1) : []));
  switch (tree.type) {
    case 'use_list':
      return inside(tree, prefix);
    case 'scoped_use_list': {
      const list = tree.childForFieldName('list');
      return list ? inside(list, join(prefix, tree.childForFieldName('path')?.text)) : [];
    }
    case 'use_wildcard':
      return [{ source: join(prefix, tree.namedChild(0)?.text), names: [{ name: '*', as: '*' }] }];
    case 'use_as_clause':
      return [readPath(join(prefix, tree.childForFieldName('path')?.text), tree.childForFieldName('alias')?.text)];
    case 'self':
      return [readPath(join(prefix, 'self'))];
    case 'identifier':
    case 'scoped_identifier':
    case 'crate':
    case 'super':
      return [readPath(join(prefix, tree.text))];
    default:
      return [];
  }
}

/** `a::b::c` brings `c` of `a::b`; `a::b::self` brings the module `a::b`. */
function readPath(path: string, alias?: string): Omit<WrittenImport, 'reexport'> {
  const parts = path.split('::');
  const name = parts.at(-1) ?? path;
  if (name === 'self' && parts.length > 1) {
    return { source: parts.slice(0, -1).join('::'), names: [], whole: alias ?? parts.at(-2) ?? name };
  }
  if (parts.length === 1) return { source: path, names: [], whole: alias ?? path };
  return { source: parts.slice(0, -1).join('::'), names: [{ name, as: alias ?? name }] };
}

function join(prefix: string, path = ''): string {
  const compact = path.replaceAll(/\s+/g, '');
  return [prefix, compact].filter((part) => part !== '').join('::');
}
