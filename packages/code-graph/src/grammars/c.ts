import type { Node } from '@vscode/tree-sitter-wasm';
import type { Declaration, Grammar, WrittenImport } from './grammar.ts';

/** The declarator of a function is below pointers and references of its result. */
const declarators = (name: string) => `[
  (function_declarator declarator: ${name})
  (pointer_declarator declarator: (function_declarator declarator: ${name}))
  (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: ${name})))
  (reference_declarator (function_declarator declarator: ${name}))
]`;

const below = (name: string) => `[
  ${name}
  (pointer_declarator declarator: [${name} (pointer_declarator declarator: ${name}) (array_declarator declarator: ${name})])
  (array_declarator declarator: [${name} (array_declarator declarator: ${name})])
]`;

const query = `
(function_definition declarator: ${declarators('[(identifier) (field_identifier) (destructor_name) (operator_name)] @name')}) @symbol.function
(function_definition declarator: (operator_cast) @name) @symbol.method
(function_definition declarator: ${declarators('(qualified_identifier scope: (_) @in name: [(identifier) (destructor_name) (operator_name)] @name)')}) @symbol.method
(function_definition declarator: ${declarators('(qualified_identifier scope: (_) @in name: (qualified_identifier scope: (_) @in name: [(identifier) (destructor_name) (operator_name)] @name))')}) @symbol.method
(declaration declarator: ${declarators('[(identifier) (field_identifier) (destructor_name) (operator_name)] @name')}) @symbol.function
(field_declaration declarator: ${declarators('[(identifier) (field_identifier) (destructor_name) (operator_name)] @name')}) @symbol.method
(class_specifier name: [(type_identifier) @name (template_type name: (_) @name)] body: (_)) @symbol.class
(struct_specifier name: [(type_identifier) @name (template_type name: (_) @name)] body: (_)) @symbol.class
(union_specifier name: (type_identifier) @name body: (_)) @symbol.class
(class_specifier name: (qualified_identifier scope: (_) @in name: (type_identifier) @name) body: (_)) @symbol.class
(struct_specifier name: (qualified_identifier scope: (_) @in name: (type_identifier) @name) body: (_)) @symbol.class
(enum_specifier name: (type_identifier) @name body: (_)) @symbol.enum
(enumerator name: (identifier) @name) @symbol.constant
(type_definition type: [(struct_specifier !name body: (_)) (union_specifier !name body: (_))] declarator: (type_identifier) @name) @symbol.class
(type_definition type: (enum_specifier !name body: (_)) declarator: (type_identifier) @name) @symbol.enum
(type_definition declarator: ${below('(type_identifier) @name')}) @symbol.type
(type_definition declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))) @symbol.type
(type_definition declarator: (function_declarator declarator: (type_identifier) @name)) @symbol.type
(alias_declaration name: (type_identifier) @name) @symbol.type
(concept_definition name: (identifier) @name) @symbol.type
(namespace_definition name: (_) @name) @symbol.module
(preproc_def name: (identifier) @name) @symbol.constant
(preproc_function_def name: (identifier) @name) @symbol.function
(field_declaration declarator: ${below('(field_identifier) @name @symbol.field')})
(declaration declarator: ${below('(identifier) @name @symbol.variable')})
(declaration declarator: (init_declarator declarator: ${below('(identifier) @name @symbol.variable')}))
(declaration declarator: (init_declarator declarator: (reference_declarator (identifier) @name @symbol.variable)))
(declaration declarator: (init_declarator declarator: (qualified_identifier scope: (_) @in name: (identifier) @name @symbol.variable)))
(function_definition (storage_class_specifier) @_s (#eq? @_s "static")) @mark.static
(declaration (storage_class_specifier) @_s (#eq? @_s "static")) @mark.static
(declaration (storage_class_specifier) @_s (#eq? @_s "extern")) @mark.extern
(namespace_definition !name) @mark.static
[(lambda_expression) (compound_statement)] @block

(parameter_declaration declarator: ${below('(identifier) @local')})
(optional_parameter_declaration declarator: ${below('(identifier) @local')})
(parameter_declaration declarator: (reference_declarator (identifier) @local))
(for_range_loop declarator: ${below('(identifier) @local')})
(type_parameter_declaration (type_identifier) @local)
(preproc_params (identifier) @local)
(field_designator (field_identifier) @drop)
(destructor_name (identifier) @drop)

(preproc_include) @import

(base_class_clause (type_identifier) @extends)
(base_class_clause (template_type name: (type_identifier) @extends))
(base_class_clause (qualified_identifier scope: (_) @qualifier name: (type_identifier) @extends))
(call_expression function: (identifier) @call)
(call_expression function: (template_function name: (identifier) @call))
(call_expression function: (field_expression argument: (_) @qualifier field: (field_identifier) @call))
(call_expression function: (qualified_identifier scope: (_) @qualifier name: (identifier) @call))
(new_expression type: (type_identifier) @call)
(qualified_identifier scope: (_) @qualifier name: (type_identifier) @type)
(qualified_identifier scope: (_) @qualifier name: (template_type name: (type_identifier) @type))
(qualified_identifier scope: (_) @qualifier name: (identifier) @value)
(type_identifier) @type
(field_expression argument: (this) @qualifier field: (field_identifier) @value)
(identifier) @value
`;

/** The grammar of C++ reads C as well. */
export const c: Grammar = {
  wasm: 'tree-sitter-cpp.wasm',
  query,
  readImports,
  isExported,
  seesOtherFiles: true,
  self: ['this'],
};

/** A declaration with `static`, or in a namespace without a name, belongs to the file. */
function isExported({ kind, marks, parent }: Declaration): boolean {
  if (parent?.kind === 'function' || parent?.kind === 'method') return false;
  const isMember = parent?.kind === 'class' || kind === 'method';
  return (isMember || !marks.has('static')) && (parent?.exported ?? true);
}

function readImports(include: Node): WrittenImport[] {
  const path = include.childForFieldName('path');
  if (path?.type === 'string_literal') return [{ source: path.text.slice(1, -1), names: [], reexport: false }];
  if (path?.type === 'system_lib_string') return [{ source: path.text.trim(), names: [], reexport: false }];
  return [];
}
