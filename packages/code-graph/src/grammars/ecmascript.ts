import type { Node } from '@vscode/tree-sitter-wasm';
import type { Declaration, ExportedName, Grammar, WrittenImport } from './grammar.ts';

/** The common part of JavaScript and TypeScript. */
const common = `
(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) @symbol.function
(variable_declarator name: (identifier) @name value: (class)) @symbol.class
(variable_declarator name: (identifier) @name) @symbol.variable
[(function_declaration name: (_) @name) (generator_function_declaration name: (_) @name)] @symbol.function
(class_declaration name: (_) @name) @symbol.class
(method_definition name: [(property_identifier) (private_property_identifier) (string) (number)] @name) @symbol.method
(export_statement "default" @name value: [(arrow_function) (function_expression) (generator_function)]) @symbol.function
(export_statement "default" @name value: (class)) @symbol.class

(assignment_expression
  left: (member_expression object: (identifier) @in property: (property_identifier) @name)
  right: [(arrow_function) (function_expression) (generator_function)]
  (#not-any-of? @in "exports" "module" "window" "globalThis" "self" "root")) @symbol.method
(assignment_expression
  left: (member_expression object: (member_expression object: (identifier) @in property: (property_identifier) @_p (#eq? @_p "prototype")) property: (property_identifier) @name)
  right: [(arrow_function) (function_expression) (generator_function)]) @symbol.method
(assignment_expression
  left: (member_expression object: (identifier) @_o property: (property_identifier) @name (#eq? @_o "exports"))
  right: [(arrow_function) (function_expression) (generator_function)]) @symbol.function
(assignment_expression
  left: (member_expression object: (member_expression) @_o property: (property_identifier) @name (#eq? @_o "module.exports"))
  right: [(arrow_function) (function_expression) (generator_function)]) @symbol.function
(assignment_expression
  left: (member_expression object: (identifier) @_o property: (property_identifier) @name (#eq? @_o "exports"))
  right: (class)) @symbol.class

(export_statement) @mark.export
(export_statement "default") @mark.default
(lexical_declaration kind: "const") @mark.const
[(arrow_function) (function_expression) (generator_function) (class_static_block) (for_in_statement) (for_statement) (catch_clause)] @block
(statement_block) @block

(shorthand_property_identifier_pattern) @binding
(pair_pattern value: (identifier) @binding)
(pair_pattern value: (assignment_pattern left: (identifier) @binding))
(array_pattern (identifier) @binding)
(array_pattern (assignment_pattern left: (identifier) @binding))
(rest_pattern (identifier) @binding)
(function_expression name: (identifier) @local)
(arrow_function parameter: (identifier) @local)
(catch_clause parameter: (identifier) @local)
(for_in_statement kind: _ left: (identifier) @local)

(import_statement) @import
(export_statement source: (_)) @import
(call_expression function: (import)) @import
(call_expression function: (identifier) @_f (#eq? @_f "require")) @import
(variable_declarator name: [(identifier) (object_pattern)] value: (call_expression function: (identifier) @_f (#eq? @_f "require"))) @import
(variable_declarator name: [(identifier) (object_pattern)] value: (await_expression (call_expression function: (import)))) @import
(variable_declarator name: (identifier) value: (member_expression object: (call_expression function: (identifier) @_f (#eq? @_f "require")))) @import

(export_statement (export_clause)) @export
(export_statement "default" value: (identifier)) @export
(assignment_expression left: (member_expression)) @export

(call_expression function: (identifier) @call)
(call_expression function: (member_expression object: (_) @qualifier property: (property_identifier) @call))
(new_expression constructor: (identifier) @call)
(new_expression constructor: (member_expression object: (_) @qualifier property: (property_identifier) @call))
(decorator (identifier) @call)
(identifier) @value
(shorthand_property_identifier) @value
(member_expression object: [(identifier) (this)] @qualifier property: (property_identifier) @value)
`;

const jsx = `
(jsx_opening_element name: (identifier) @call (#match? @call "^[A-Z]"))
(jsx_self_closing_element name: (identifier) @call (#match? @call "^[A-Z]"))
(jsx_opening_element name: (member_expression object: (_) @qualifier property: (property_identifier) @call))
(jsx_self_closing_element name: (member_expression object: (_) @qualifier property: (property_identifier) @call))
(jsx_opening_element name: (identifier) @drop)
(jsx_self_closing_element name: (identifier) @drop)
(jsx_closing_element name: (identifier) @drop)
(jsx_closing_element name: (member_expression object: (identifier) @drop))
(jsx_closing_element name: (member_expression property: (property_identifier) @drop))
`;

const javascriptOnly = `
(field_definition property: [(property_identifier) (private_property_identifier) (string)] @name) @symbol.field
(formal_parameters (identifier) @local)
(formal_parameters (assignment_pattern left: (identifier) @local))
(class_heritage (identifier) @extends)
(class_heritage (member_expression object: (_) @qualifier property: (property_identifier) @extends))
`;

const typescriptOnly = `
(abstract_class_declaration name: (_) @name) @symbol.class
(function_signature name: (_) @name) @symbol.function
(interface_declaration name: (_) @name) @symbol.interface
(type_alias_declaration name: (_) @name) @symbol.type
(enum_declaration name: (_) @name) @symbol.enum
(enum_body name: (_) @name @symbol.field)
(enum_assignment name: (_) @name) @symbol.field
[(internal_module name: (_) @name) (module name: (_) @name)] @symbol.module
(abstract_method_signature name: [(property_identifier) (private_property_identifier) (string)] @name) @symbol.method
(class_body (method_signature name: [(property_identifier) (private_property_identifier) (string)] @name) @symbol.method)
(interface_body (method_signature name: [(property_identifier) (string)] @name) @symbol.method)
(interface_body (property_signature name: [(property_identifier) (string)] @name) @symbol.field)
(type_alias_declaration value: (object_type (method_signature name: [(property_identifier) (string)] @name) @symbol.method))
(type_alias_declaration value: (object_type (property_signature name: [(property_identifier) (string)] @name) @symbol.field))
(public_field_definition name: [(property_identifier) (private_property_identifier) (string)] @name) @symbol.field
(required_parameter (accessibility_modifier) pattern: (identifier) @name) @symbol.field
(ambient_declaration) @mark.ambient
[(function_type) (constructor_type) (call_signature) (construct_signature)] @block
(required_parameter pattern: (identifier) @local)
(optional_parameter pattern: (identifier) @local)
(type_parameter name: (type_identifier) @local)
(mapped_type_clause name: (type_identifier) @local)
(infer_type (type_identifier) @local)

(extends_clause value: (identifier) @extends)
(extends_clause value: (member_expression object: (_) @qualifier property: (property_identifier) @extends))
(implements_clause (type_identifier) @extends)
(implements_clause (generic_type name: (type_identifier) @extends))
(extends_type_clause (type_identifier) @extends)
(extends_type_clause (generic_type name: (type_identifier) @extends))
(extends_type_clause (nested_type_identifier module: (_) @qualifier name: (type_identifier) @extends))
(nested_type_identifier module: (_) @qualifier name: (type_identifier) @type)
(type_query (identifier) @type)
`;

/** After the declarations: the first pattern counts. */
const types = `
(type_identifier) @type
`;

export const javascript = grammar('tree-sitter-javascript.wasm', javascriptOnly + jsx + common);
export const typescript = grammar('tree-sitter-typescript.wasm', typescriptOnly + common + types);
export const tsx = grammar('tree-sitter-tsx.wasm', typescriptOnly + jsx + common + types);

function grammar(wasm: string, query: string): Grammar {
  return {
    ...{ wasm, query, readImports, exportsItsNames, readExports, isExported },
    ...{ seesOtherFiles: false, self: ['this', 'super'] },
  };
}

function isExported({ name, head, marks, parent }: Declaration): boolean {
  if (parent === undefined) return marks.has('export') || marks.has('ambient') || /exports\s*\.\s*$/.test(head);
  if (parent.kind === 'module') return marks.has('export') || (marks.has('ambient') && parent.exported);
  if (parent.kind === 'function' || parent.kind === 'method') return false;
  return parent.exported && !name.startsWith('#') && !/\b(private|protected)\b/.test(head);
}

function readImports(node: Node): WrittenImport[] {
  if (node.type === 'import_statement') return readImportStatement(node);
  if (node.type === 'export_statement') return readReexport(node);
  if (node.type === 'call_expression') return toImport(argumentOf(node), {});
  return readRequire(node);
}

function readImportStatement(node: Node): WrittenImport[] {
  const required = node.namedChildren.find((child) => child?.type === 'import_require_clause');
  if (required) {
    const as = required.namedChildren.find((child) => child?.type === 'identifier')?.text;
    return toImport(stringOf(required.childForFieldName('source')), { ...(as && { whole: as }) });
  }
  const names: WrittenImport['names'] = [];
  let whole: string | undefined;
  const clause = node.namedChildren.find((child) => child?.type === 'import_clause');
  for (const part of clause?.namedChildren ?? []) {
    if (part?.type === 'identifier') names.push({ name: 'default', as: part.text });
    if (part?.type === 'namespace_import') whole = part.namedChild(0)?.text;
    if (part?.type === 'named_imports') names.push(...specifiers(part));
  }
  return toImport(stringOf(node.childForFieldName('source')), { names, ...(whole && { whole }) });
}

function readReexport(node: Node): WrittenImport[] {
  const source = stringOf(node.childForFieldName('source'));
  const clause = node.namedChildren.find((child) => child?.type === 'export_clause');
  const namespace = node.namedChildren.find((child) => child?.type === 'namespace_export')?.namedChild(0);
  if (clause) return toImport(source, { names: specifiers(clause), reexport: true });
  if (namespace) return toImport(source, { whole: unquoted(namespace), reexport: true });
  return toImport(source, { names: [{ name: '*', as: '*' }], reexport: true });
}

function specifiers(clause: Node): WrittenImport['names'] {
  return clause.namedChildren.flatMap((one) => {
    const name = one?.childForFieldName('name');
    if (!name) return [];
    return [{ name: unquoted(name), as: unquoted(one?.childForFieldName('alias') ?? name) }];
  });
}

/** `const x = require('y')`, `const { a: b } = await import('y')`, `const x = require('y').z`. */
function readRequire(node: Node): WrittenImport[] {
  const name = node.childForFieldName('name');
  let value = node.childForFieldName('value');
  if (!name || !value) return [];
  if (value.type === 'await_expression') value = value.namedChild(0);
  if (value?.type === 'member_expression') {
    const source = argumentOf(value.childForFieldName('object'));
    return toImport(source, { names: [{ name: value.childForFieldName('property')?.text ?? '', as: name.text }] });
  }
  const source = argumentOf(value);
  return toImport(source, name.type === 'identifier' ? { whole: name.text } : { names: destructured(name) });
}

function exportsItsNames(node: Node): boolean {
  return node.type === 'variable_declarator' && node.parent?.parent?.type === 'export_statement';
}

function destructured(pattern: Node): WrittenImport['names'] {
  return pattern.namedChildren.flatMap((part) => {
    if (part?.type === 'shorthand_property_identifier_pattern') return [{ name: part.text, as: part.text }];
    const value = part?.childForFieldName('value');
    const key = part?.childForFieldName('key');
    return key && value?.type === 'identifier' ? [{ name: unquoted(key), as: value.text }] : [];
  });
}

function argumentOf(call: Node | null): string | undefined {
  return stringOf(call?.childForFieldName('arguments')?.namedChild(0) ?? null);
}

/** The text of a string without escapes or computed parts. */
function stringOf(node: Node | null): string | undefined {
  if (node?.type !== 'string' && node?.type !== 'template_string') return undefined;
  if (node.namedChildren.some((child) => child?.type !== 'string_fragment')) return undefined;
  return node.text.slice(1, -1);
}

function unquoted(node: Node): string {
  return stringOf(node) ?? node.text;
}

function toImport(source: string | undefined, rest: Partial<WrittenImport>): WrittenImport[] {
  return source === undefined ? [] : [{ source, names: [], reexport: false, ...rest }];
}

function readExports(node: Node): ExportedName[] {
  if (node.type === 'assignment_expression') return readCommonJsExports(node);
  if (node.childForFieldName('source')) return [];
  const value = node.childForFieldName('value');
  if (value) return [{ name: value.text, as: 'default' }];
  const clause = node.namedChildren.find((child) => child?.type === 'export_clause');
  return clause ? specifiers(clause) : [];
}

/** `module.exports = x`, `module.exports = { a, b: c }`, `exports.a = b`. */
function readCommonJsExports(node: Node): ExportedName[] {
  const left = node.childForFieldName('left');
  const right = node.childForFieldName('right');
  const object = left?.childForFieldName('object');
  const property = left?.childForFieldName('property')?.text;
  if (!object || !property || !right) return [];
  if (object.text === 'module' && property === 'exports') {
    if (right.type === 'identifier') return [{ name: right.text, as: 'default' }];
    return right.type === 'object' ? propertiesOf(right) : [];
  }
  if (object.endIndex - object.startIndex > 20 || !/^(module\.)?exports$/.test(object.text)) return [];
  return right.type === 'identifier' ? [{ name: right.text, as: property }] : [];
}

function propertiesOf(object: Node): ExportedName[] {
  return object.namedChildren.flatMap((part) => {
    if (part?.type === 'shorthand_property_identifier') return [{ name: part.text, as: part.text }];
    const value = part?.childForFieldName('value');
    const key = part?.childForFieldName('key');
    return key && value?.type === 'identifier' ? [{ name: value.text, as: unquoted(key) }] : [];
  });
}
