import type { Node } from '@vscode/tree-sitter-wasm';
import type { Declaration, Grammar, WrittenImport } from './grammar.ts';

const query = `
(package_declaration [(identifier) (scoped_identifier)] @name) @symbol.module
[(class_declaration name: (identifier) @name) (record_declaration name: (identifier) @name)] @symbol.class
[(interface_declaration name: (identifier) @name) (annotation_type_declaration name: (identifier) @name)] @symbol.interface
(enum_declaration name: (identifier) @name) @symbol.enum
(enum_constant name: (identifier) @name) @symbol.field
(method_declaration name: (identifier) @name) @symbol.method
(constructor_declaration name: (identifier) @name) @symbol.method
(compact_constructor_declaration name: (identifier) @name) @symbol.method
(annotation_type_element_declaration name: (identifier) @name) @symbol.method
(field_declaration (modifiers "static" "final") declarator: (variable_declarator name: (identifier) @name) @symbol.constant)
(field_declaration (modifiers "final" "static") declarator: (variable_declarator name: (identifier) @name) @symbol.constant)
(constant_declaration declarator: (variable_declarator name: (identifier) @name) @symbol.constant)
(field_declaration declarator: (variable_declarator name: (identifier) @name) @symbol.field)
(record_declaration parameters: (formal_parameters (formal_parameter name: (identifier) @name) @symbol.field))
(field_declaration (modifiers "private")) @mark.private
[(lambda_expression) (static_initializer) (block)] @block

(local_variable_declaration declarator: (variable_declarator name: (identifier) @local))
(formal_parameter name: (identifier) @local)
(spread_parameter (variable_declarator name: (identifier) @local))
(inferred_parameters (identifier) @local)
(lambda_expression parameters: (identifier) @local)
(enhanced_for_statement name: (identifier) @local)
(catch_formal_parameter name: (identifier) @local)
(resource name: (identifier) @local)
(type_parameter (type_identifier) @local)
(instanceof_expression name: (identifier) @local)
(element_value_pair key: (identifier) @drop)
(labeled_statement (identifier) @drop)

(import_declaration) @import

(superclass (type_identifier) @extends)
(superclass (generic_type (type_identifier) @extends))
(superclass (scoped_type_identifier (_) @qualifier (type_identifier) @extends))
(type_list (type_identifier) @extends)
(type_list (generic_type (type_identifier) @extends))
(type_list (scoped_type_identifier (_) @qualifier (type_identifier) @extends))
(method_invocation object: (_) @qualifier name: (identifier) @call)
(method_invocation name: (identifier) @call)
(method_reference . (_) @qualifier (identifier) @call .)
(object_creation_expression type: (type_identifier) @call)
(object_creation_expression type: (generic_type (type_identifier) @call))
(annotation name: (identifier) @type)
(marker_annotation name: (identifier) @type)
(scoped_type_identifier (_) @qualifier (type_identifier) @type .)
(type_identifier) @type
(field_access object: (_) @qualifier field: (identifier) @value)
(identifier) @value
`;

export const java: Grammar = {
  wasm: 'tree-sitter-java.wasm',
  query,
  readImports,
  isExported,
  seesOtherFiles: true,
  self: ['this', 'super'],
  builtins: new Set(['var']),
};

/** A declaration without a modifier is visible in its package, so other files can name the declaration. */
function isExported({ head, marks, parent }: Declaration): boolean {
  if (parent === undefined) return true;
  if (!parent.exported || parent.kind === 'function' || parent.kind === 'method') return false;
  return !marks.has('private') && !/\bprivate\b/.test(head.replaceAll(/"[^"]*"/g, ''));
}

function readImports(node: Node): WrittenImport[] {
  const path = node.namedChildren.find((child) => child?.type === 'scoped_identifier' || child?.type === 'identifier');
  if (!path) return [];
  const source = path.text.replaceAll(/\s+/g, '');
  const isStatic = node.children.some((child) => child?.type === 'static');
  const isAll = node.namedChildren.some((child) => child?.type === 'asterisk');
  if (isAll) return [{ source, names: [{ name: '*', as: '*' }], reexport: false }];
  const end = source.lastIndexOf('.');
  const name = source.slice(end + 1);
  return [{ source: isStatic ? source.slice(0, end) : source, names: [{ name, as: name }], reexport: false }];
}
