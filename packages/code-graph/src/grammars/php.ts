import type { Node } from '@vscode/tree-sitter-wasm';
import type { Declaration, Grammar, WrittenImport } from './grammar.ts';

const query = `
(namespace_definition name: (_) @name body: (_)) @symbol.module
(namespace_definition name: (_) @name) @symbol.module.rest
(class_declaration name: (name) @name) @symbol.class
(interface_declaration name: (name) @name) @symbol.interface
(trait_declaration name: (name) @name) @symbol.class
(enum_declaration name: (name) @name) @symbol.enum
(enum_case name: (name) @name) @symbol.field
(function_definition name: (name) @name) @symbol.function
(method_declaration name: (name) @name) @symbol.method
(property_element name: (variable_name (name) @name)) @symbol.field
(property_promotion_parameter name: (variable_name (name) @name)) @symbol.field
(const_element . (name) @name) @symbol.constant
(function_call_expression function: (name) @_f arguments: (arguments . (argument [(encapsed_string (string_content) @name) (string (string_content) @name)])) (#eq? @_f "define")) @symbol.constant
(property_declaration (visibility_modifier) @_m (#eq? @_m "private")) @mark.private
(const_declaration (visibility_modifier) @_m (#eq? @_m "private")) @mark.private
[(anonymous_function) (arrow_function)] @block

(namespace_use_declaration) @import
[(require_expression) (require_once_expression) (include_expression) (include_once_expression)] @import

(base_clause (name) @extends)
(base_clause (qualified_name prefix: (_) @qualifier (name) @extends .))
(class_interface_clause (name) @extends)
(class_interface_clause (qualified_name prefix: (_) @qualifier (name) @extends .))
(declaration_list (use_declaration (name) @extends))
(declaration_list (use_declaration (qualified_name prefix: (_) @qualifier (name) @extends .)))
(function_call_expression function: (name) @call)
(function_call_expression function: (qualified_name prefix: (_) @qualifier (name) @call .))
(member_call_expression object: (_) @qualifier name: (name) @call)
(nullsafe_member_call_expression object: (_) @qualifier name: (name) @call)
(scoped_call_expression scope: (_) @qualifier name: (name) @call)
(object_creation_expression (name) @call)
(object_creation_expression (qualified_name prefix: (_) @qualifier (name) @call .))
(named_type (name) @type)
(named_type (qualified_name prefix: (_) @qualifier (name) @type .))
(class_constant_access_expression . (_) @qualifier (name) @value .)
(class_constant_access_expression . (name) @type)
(scoped_call_expression scope: (name) @type)
(scoped_property_access_expression scope: (name) @type)
(binary_expression operator: "instanceof" right: (name) @type)
(attribute (name) @type)
(member_access_expression object: (variable_name) @qualifier name: (name) @value)
(argument (name) @value)
`;

export const php: Grammar = {
  wasm: 'tree-sitter-php.wasm',
  query,
  readImports,
  isExported,
  seesOtherFiles: true,
  self: ['$this', 'self', 'static', 'parent'],
};

function isExported({ head, marks, parent }: Declaration): boolean {
  if (parent === undefined || parent.kind === 'module') return true;
  if (!parent.exported || parent.kind === 'function' || parent.kind === 'method') return false;
  return !marks.has('private') && !/\bprivate\b/.test(head.replaceAll(/"[^"]*"|'[^']*'/g, ''));
}

function readImports(node: Node): WrittenImport[] {
  return node.type === 'namespace_use_declaration' ? readUse(node) : readInclude(node);
}

/** `use A\\B;` `use A\\{B, C as D};` `use function A\\f;` */
function readUse(node: Node): WrittenImport[] {
  const group = node.childForFieldName('body');
  const prefix = group ? node.namedChildren.find((child) => child?.type === 'namespace_name')?.text : undefined;
  return (group ?? node).namedChildren.flatMap((clause) => {
    if (clause?.type !== 'namespace_use_clause') return [];
    const path = clause.namedChildren.find((child) => child?.type === 'qualified_name' || child?.type === 'name');
    if (!path) return [];
    const source = [prefix, path.text.replace(/^\\/, '')].filter(Boolean).join('\\');
    const name = source.slice(source.lastIndexOf('\\') + 1);
    const as = clause.childForFieldName('alias')?.text ?? name;
    return [{ source, names: [{ name, as }], reexport: false }];
  });
}

/** A path written out: `'a.php'`, or `__DIR__ . '/a.php'`, the same as `./a.php`. */
function readInclude(node: Node): WrittenImport[] {
  let path = node.namedChild(0);
  if (path?.type === 'parenthesized_expression') path = path.namedChild(0);
  const isJoined = path?.type === 'binary_expression';
  const left = isJoined ? path?.childForFieldName('left')?.text : undefined;
  const isHere = left === '__DIR__' || left === 'dirname(__FILE__)';
  if (isJoined && !isHere) return [];
  const literal = isJoined ? path?.childForFieldName('right') : path;
  const content = literal?.namedChild(0);
  if (!literal || !/^(encapsed_)?string$/.test(literal.type) || content?.type !== 'string_content') return [];
  if (literal.namedChildCount !== 1) return [];
  return [{ source: `${isHere ? '.' : ''}${content.text}`, names: [], reexport: false }];
}
