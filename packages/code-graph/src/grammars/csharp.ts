import type { Node } from '@vscode/tree-sitter-wasm';
import type { Declaration, Grammar, WrittenImport } from './grammar.ts';

const query = `
(namespace_declaration name: (_) @name) @symbol.module
[(class_declaration name: (identifier) @name) (struct_declaration name: (identifier) @name) (record_declaration name: (identifier) @name)] @symbol.class
(interface_declaration name: (identifier) @name) @symbol.interface
(enum_declaration name: (identifier) @name) @symbol.enum
(enum_member_declaration name: (identifier) @name) @symbol.field
(delegate_declaration name: (identifier) @name) @symbol.type
[(method_declaration name: (identifier) @name) (constructor_declaration name: (identifier) @name)] @symbol.method
(local_function_statement name: (identifier) @name) @symbol.function
[(property_declaration name: (identifier) @name) (event_declaration name: (identifier) @name)] @symbol.field
(field_declaration (modifier) @_m (variable_declaration (variable_declarator name: (identifier) @name) @symbol.constant) (#eq? @_m "const"))
(field_declaration (variable_declaration (variable_declarator name: (identifier) @name) @symbol.field))
(event_field_declaration (variable_declaration (variable_declarator name: (identifier) @name) @symbol.field))
(record_declaration (parameter_list (parameter name: (identifier) @name) @symbol.field))
(file_scoped_namespace_declaration name: (_) @name) @symbol.module.rest
(record_declaration (parameter_list (parameter) @mark.visible))
(field_declaration (modifier) @_m (#any-of? @_m "public" "internal" "protected")) @mark.visible
(event_field_declaration (modifier) @_m (#any-of? @_m "public" "internal" "protected")) @mark.visible
[(lambda_expression) (anonymous_method_expression) (block) (accessor_declaration) (arrow_expression_clause)] @block

(local_declaration_statement (variable_declaration (variable_declarator name: (identifier) @local)))
(for_statement (variable_declaration (variable_declarator name: (identifier) @local)))
(using_statement (variable_declaration (variable_declarator name: (identifier) @local)))
(parameter name: (identifier) @local)
(parameter_list name: (identifier) @local)
(implicit_parameter) @local
(foreach_statement left: (identifier) @local)
(catch_declaration name: (identifier) @local)
(declaration_expression name: (identifier) @local)
(declaration_pattern name: (identifier) @local)
(type_parameter name: (identifier) @local)
(argument name: (identifier) @drop)

(using_directive) @import

(base_list (identifier) @extends)
(base_list (generic_name (identifier) @extends))
(base_list (qualified_name qualifier: (_) @qualifier name: (identifier) @extends))
(invocation_expression function: (identifier) @call)
(invocation_expression function: (generic_name (identifier) @call))
(invocation_expression function: (member_access_expression expression: _ @qualifier name: (identifier) @call))
(invocation_expression function: (member_access_expression expression: _ @qualifier name: (generic_name (identifier) @call)))
(invocation_expression function: (conditional_access_expression condition: (_) @qualifier (member_binding_expression name: (identifier) @call)))
(object_creation_expression type: (identifier) @call)
(object_creation_expression type: (generic_name (identifier) @call))
(attribute name: (identifier) @type)
(variable_declaration type: (identifier) @type)
(parameter type: (identifier) @type)
(method_declaration returns: (identifier) @type)
(property_declaration type: (identifier) @type)
(type_argument_list (identifier) @type)
(generic_name (identifier) @type)
(nullable_type type: (identifier) @type)
(array_type type: (identifier) @type)
(cast_expression type: (identifier) @type)
(qualified_name qualifier: (_) @qualifier name: (identifier) @type)
(member_access_expression expression: _ @qualifier name: (identifier) @value)
(identifier) @value
`;

export const csharp: Grammar = {
  wasm: 'tree-sitter-c-sharp.wasm',
  query,
  readImports,
  isExported,
  seesOtherFiles: true,
  self: ['this', 'base'],
  builtins: new Set(['var', 'nameof', 'value', 'dynamic', '_']),
};

/** A member without a modifier is private, a type without a modifier is visible in its assembly. */
function isExported({ head, marks, parent }: Declaration): boolean {
  if (parent === undefined || parent.kind === 'module') return !/\bfile\b/.test(head);
  if (!parent.exported || parent.kind === 'function' || parent.kind === 'method') return false;
  if (parent.kind === 'interface' || parent.kind === 'enum') return !/\bprivate\b/.test(head);
  const modifiers = head.replaceAll(/"[^"]*"/g, '');
  return marks.has('visible') || /\b(public|internal|protected)\b/.test(modifiers);
}

/** `using A.B`, `using static A.B`, `using X = A.B`. */
function readImports(directive: Node): WrittenImport[] {
  const alias = directive.childForFieldName('name');
  const path = directive.namedChildren.findLast((child) => child !== null && child.id !== alias?.id);
  if (!path || path.endIndex - path.startIndex > 500) return [];
  const source = path.text.replaceAll(/\s+|<.*/gs, '');
  if (alias) return [{ source, names: [], whole: alias.text, reexport: false }];
  const reexport = directive.children.some((child) => child?.type === 'global');
  return [{ source, names: [{ name: '*', as: '*' }], reexport }];
}
