import type { Node } from '@vscode/tree-sitter-wasm';
import type { Declaration, ExportedName, Grammar, WrittenImport } from './grammar.ts';

const query = `
(function_definition name: (identifier) @name) @symbol.function
(class_definition name: (identifier) @name) @symbol.class
(type_alias_statement left: (type (identifier) @name)) @symbol.type
(type_alias_statement left: (type (generic_type (identifier) @name))) @symbol.type
(assignment left: (identifier) @name) @symbol.variable
(for_statement left: (tuple_pattern (identifier) @local))
(for_in_clause left: (tuple_pattern (identifier) @local))
(assignment left: (pattern_list (identifier) @binding))
(assignment left: (tuple_pattern (identifier) @binding))
(assignment left: (list_pattern (identifier) @binding))
(tuple_pattern (identifier) @binding)
(pattern_list (list_splat_pattern (identifier) @binding))
[(lambda) (list_comprehension) (set_comprehension) (dictionary_comprehension) (generator_expression)] @block

(parameters (identifier) @local)
(lambda_parameters (identifier) @local)
(default_parameter name: (identifier) @local)
(typed_parameter . (identifier) @local)
(typed_default_parameter name: (identifier) @local)
(list_splat_pattern (identifier) @local)
(dictionary_splat_pattern (identifier) @local)
(type_parameter (type (identifier) @local))
(for_statement left: (identifier) @local)
(for_statement left: (pattern_list (identifier) @local))
(for_in_clause left: (identifier) @local)
(for_in_clause left: (pattern_list (identifier) @local))
(as_pattern_target (identifier) @local)
(named_expression name: (identifier) @local)
(keyword_argument name: (identifier) @drop)
(keyword_pattern . (identifier) @drop)

[(import_statement) (import_from_statement) (future_import_statement)] @import
(call function: (identifier) @_f (#eq? @_f "__import__")) @import
(call function: (attribute attribute: (identifier) @_f) (#eq? @_f "import_module")) @import
(call function: (identifier) @_f (#eq? @_f "import_module")) @import
(assignment left: (identifier) @_a right: [(list) (tuple)] (#eq? @_a "__all__")) @export

(class_definition superclasses: (argument_list (identifier) @extends))
(class_definition superclasses: (argument_list (attribute object: (_) @qualifier attribute: (identifier) @extends)))
(class_definition superclasses: (argument_list (subscript value: (identifier) @extends)))
(call function: (identifier) @call)
(call function: (attribute object: (_) @qualifier attribute: (identifier) @call))
(decorator (identifier) @call)
(decorator (attribute object: (_) @qualifier attribute: (identifier) @call))
(type (identifier) @type)
(type (attribute object: (_) @qualifier attribute: (identifier) @type))
(generic_type (identifier) @type)
(attribute object: (_) @qualifier attribute: (identifier) @value)
(identifier) @value
`;

export const python: Grammar = {
  wasm: 'tree-sitter-python.wasm',
  query,
  readImports,
  readExports,
  isExported,
  seesOtherFiles: false,
  capitalsAreConstant: true,
  self: ['self', 'cls'],
};

/** A name with an underscore in front is private by convention, unless `__all__` has the name. */
function isExported({ name, parent }: Declaration): boolean {
  if (/^_(?!_.*__$)/.test(name)) return false;
  return parent === undefined || (parent.exported && parent.kind !== 'function' && parent.kind !== 'method');
}

function readImports(node: Node): WrittenImport[] {
  if (node.type === 'call') return readDynamic(node);
  const names = node.childrenForFieldName('name').flatMap((one) => (one ? [readName(one)] : []));
  if (node.type === 'import_statement') {
    return names.map(({ name, as }) => ({ source: name, names: [], whole: as, reexport: false }));
  }
  const isAll = node.namedChildren.some((child) => child?.type === 'wildcard_import');
  const source = node.type === 'future_import_statement' ? '__future__' : node.childForFieldName('module_name')?.text;
  if (!source) return [];
  return [{ source: compact(source), names: isAll ? [{ name: '*', as: '*' }] : names, reexport: false }];
}

function readName(node: Node): { name: string; as: string } {
  const name = compact(node.childForFieldName('name')?.text ?? node.text);
  return { name, as: node.childForFieldName('alias')?.text ?? name };
}

function readDynamic(call: Node): WrittenImport[] {
  const first = call.childForFieldName('arguments')?.namedChild(0);
  const source = first ? stringOf(first) : undefined;
  return source ? [{ source, names: [], reexport: false }] : [];
}

function readExports(assignment: Node): ExportedName[] {
  return (assignment.childForFieldName('right')?.namedChildren ?? []).flatMap((one) => {
    const name = one ? stringOf(one) : undefined;
    return name ? [{ name, as: name }] : [];
  });
}

function stringOf(node: Node): string | undefined {
  if (node.type !== 'string') return undefined;
  const parts = node.namedChildren.filter((child) => child?.type === 'string_content');
  return parts.length === 1 && node.namedChildCount === 3 ? parts[0]?.text : undefined;
}

function compact(text: string): string {
  return text.replaceAll(/[\s\\]+/g, '');
}
