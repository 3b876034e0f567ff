import type { Node } from '@vscode/tree-sitter-wasm';
import type { Grammar, WrittenImport } from './grammar.ts';

const query = `
(package_clause (package_identifier) @name) @symbol.module
(function_declaration name: (identifier) @name (#not-eq? @name "_")) @symbol.function
(method_declaration receiver: (parameter_list (parameter_declaration type: [(type_identifier) @in (pointer_type (type_identifier) @in) (generic_type type: (type_identifier) @in) (pointer_type (generic_type type: (type_identifier) @in))])) name: (field_identifier) @name) @symbol.method
(method_declaration name: (field_identifier) @name) @symbol.method
(type_spec name: (type_identifier) @name type: (struct_type)) @symbol.class
(type_spec name: (type_identifier) @name type: (interface_type)) @symbol.interface
(type_spec name: (type_identifier) @name) @symbol.type
(type_alias name: (type_identifier) @name) @symbol.type
(type_spec type: (struct_type (field_declaration_list (field_declaration name: (field_identifier) @name @symbol.field (#not-eq? @name "_")))))
(type_spec type: (interface_type (method_elem name: (field_identifier) @name) @symbol.method))
(const_spec (identifier) @name @symbol.constant (#not-eq? @name "_"))
(var_spec name: (identifier) @name @symbol.variable (#not-eq? @name "_"))
[(func_literal) (block)] @block

(parameter_declaration name: (identifier) @local)
(variadic_parameter_declaration name: (identifier) @local)
(type_parameter_declaration name: (identifier) @local)
(short_var_declaration left: (expression_list (identifier) @local))
(range_clause left: (expression_list (identifier) @local))
(type_switch_statement alias: (expression_list (identifier) @local))
(receive_statement left: (expression_list (identifier) @local))
(keyed_element key: (literal_element (identifier) @drop))
(blank_identifier) @drop

(import_spec) @import

(field_declaration !name type: [(type_identifier) @extends (pointer_type (type_identifier) @extends)])
(field_declaration !name type: [(qualified_type package: (_) @qualifier name: (type_identifier) @extends) (pointer_type (qualified_type package: (_) @qualifier name: (type_identifier) @extends))])
(interface_type (type_elem (type_identifier) @extends))
(interface_type (type_elem (qualified_type package: (_) @qualifier name: (type_identifier) @extends)))
(call_expression function: (identifier) @call)
(call_expression function: (selector_expression operand: (_) @qualifier field: (field_identifier) @call))
(qualified_type package: (_) @qualifier name: (type_identifier) @type)
(type_identifier) @type
(selector_expression operand: (_) @qualifier field: (field_identifier) @value)
(identifier) @value
`;

export const go: Grammar = {
  wasm: 'tree-sitter-go.wasm',
  query,
  readImports,
  isExported: ({ name, kind }) => kind === 'module' || /^\p{Lu}/u.test(name),
  seesOtherFiles: true,
  builtins: new Set(
    (
      '_ any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint uint8 ' +
      'uint16 uint32 uint64 uintptr append cap clear close complex copy delete imag len make max min new panic print println real recover true false nil iota'
    ).split(' '),
  ),
};

function readImports(spec: Node): WrittenImport[] {
  const source = spec.childForFieldName('path')?.text.slice(1, -1);
  if (!source) return [];
  const name = spec.childForFieldName('name')?.text;
  if (name === '.') return [{ source, names: [{ name: '*', as: '*' }], reexport: false }];
  if (name === '_') return [{ source, names: [], reexport: false }];
  return [{ source, names: [], whole: name ?? packageName(source), reexport: false }];
}

/** By convention the last part of the path is the name of the package: `v2` and `.v3` are versions. */
function packageName(source: string): string {
  const parts = source.split('/');
  const last = parts.at(-1) ?? source;
  const name = /^v\d+$/.test(last) && parts.length > 1 ? (parts.at(-2) ?? last) : last;
  return name.replace(/\.v\d+$/, '').replace(/^go-/, '');
}
