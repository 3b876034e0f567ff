import type { Node } from '@vscode/tree-sitter-wasm';
import type { Grammar, WrittenImport } from './grammar.ts';

const query = `
[(method name: (_) @name) (singleton_method name: (_) @name)] @symbol.method
(class name: [(constant) @name (scope_resolution name: (constant) @name)]) @symbol.class
(class name: (scope_resolution scope: (_) @in name: (constant) @name)) @symbol.class
(module name: (scope_resolution scope: (_) @in name: (constant) @name)) @symbol.module
(module name: [(constant) @name (scope_resolution name: (constant) @name)]) @symbol.module
(assignment left: (constant) @name right: (call receiver: (constant) @_r method: (identifier) @_m (#any-of? @_r "Struct" "Class" "Data") (#any-of? @_m "new" "define"))) @symbol.class
(assignment left: (constant) @name) @symbol.constant
(assignment left: (left_assignment_list (constant) @name @symbol.constant))
(alias name: (identifier) @name) @symbol.method
(call method: (identifier) @_m arguments: (argument_list (simple_symbol) @name @symbol.field) (#any-of? @_m "attr_accessor" "attr_reader" "attr_writer" "mattr_accessor" "cattr_accessor"))
(call method: (identifier) @_m arguments: (argument_list . (simple_symbol) @name) (#any-of? @_m "define_method" "alias_method")) @symbol.method
[(block) (do_block) (lambda)] @block

(assignment left: (identifier) @local)
(assignment left: (left_assignment_list (identifier) @local))
(operator_assignment left: (identifier) @local)
(method_parameters (identifier) @local)
(block_parameters (identifier) @local)
(lambda_parameters (identifier) @local)
(optional_parameter name: (identifier) @local)
(keyword_parameter name: (identifier) @local)
(splat_parameter name: (identifier) @local)
(hash_splat_parameter name: (identifier) @local)
(block_parameter name: (identifier) @local)
(exception_variable (identifier) @local)
(for pattern: (identifier) @local)

(call !receiver method: (identifier) @_m (#any-of? @_m "require" "require_relative" "load" "autoload")) @import

(superclass (constant) @extends)
(superclass (scope_resolution scope: (_) @qualifier name: (constant) @extends))
(call !receiver method: (identifier) @_m arguments: (argument_list (constant) @extends) (#any-of? @_m "include" "extend" "prepend"))
(call !receiver method: (identifier) @_m arguments: (argument_list (scope_resolution scope: (_) @qualifier name: (constant) @extends)) (#any-of? @_m "include" "extend" "prepend"))
(call receiver: (_) @qualifier method: [(identifier) (constant)] @call)
(call method: [(identifier) (constant)] @call)
(scope_resolution scope: (_) @qualifier name: (constant) @value)
(constant) @value
(identifier) @call
`;

export const ruby: Grammar = {
  wasm: 'tree-sitter-ruby.wasm',
  query,
  readImports,
  // `private` is a call, and other calls can revoke its effect: the visibility of a method is known only at run time.
  isExported: ({ parent }) => parent?.kind !== 'method' && parent?.kind !== 'function',
  seesOtherFiles: true,
  self: ['self', 'super'],
  builtins: new Set(
    (
      'attr_accessor attr_reader attr_writer include extend prepend private public protected module_function raise puts print p ' +
      'lambda proc loop catch throw freeze alias_method define_method block_given? private_constant private_class_method'
    ).split(' '),
  ),
};

function readImports(call: Node): WrittenImport[] {
  const method = call.childForFieldName('method')?.text;
  const written = call.childForFieldName('arguments')?.namedChildren.at(method === 'autoload' ? 1 : 0);
  const content = written?.namedChild(0);
  if (written?.type !== 'string' || written.namedChildCount !== 1 || content?.type !== 'string_content') return [];
  const isRelative = method === 'require_relative' && !content.text.startsWith('.');
  return [{ source: `${isRelative ? './' : ''}${content.text}`, names: [], reexport: false }];
}
