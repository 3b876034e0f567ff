import { relative } from 'node:path';
import type { ImportFact } from '@holdpoint/code-graph/extract';
import {
  type Identifier,
  isArrayBindingPattern,
  isBinaryExpression,
  isBindingElement,
  isCallExpression,
  isIdentifier,
  isObjectBindingPattern,
  isPropertyAccessExpression,
  isStringLiteral,
  isVariableDeclarationList,
  type Node,
  NodeFlags,
  type SourceFile,
  SyntaxKind,
} from 'typescript/unstable/ast';
import { API, type Project } from 'typescript/unstable/sync';
import { projectDir } from '../harness/processes.ts';
import type { Readings } from './expect-agreement.ts';
import { type FileReport, readTree } from './read-tree.ts';

/** This repository, as read by its own tsconfig.json. */
export async function readTypeScript(): Promise<Readings> {
  const api = new API({ cwd: projectDir });
  try {
    const project = api.updateSnapshot({ openProjects: [`${projectDir}/tsconfig.json`] }).getProjects()[0];
    if (project === undefined) throw new Error('TypeScript opened no project');
    const own = project.rootFiles.filter((file) => !file.includes('/node_modules/'));
    const theirs = new Map(
      own.flatMap((file) => {
        const source = project.program.getSourceFile(file);
        return source === undefined ? [] : [[relative(projectDir, file), reportOf(project, source)] as const];
      }),
    );
    const ours = await readTree({ root: projectDir, isMeant: (path) => theirs.has(path), importLine });
    return { ours, theirs };
  } finally {
    api.close();
  }
}

/** Imports of types and whole modules alike: where they lead counts, and the names they bring. */
function importLine({ start, source, reexport }: ImportFact, target: string): string {
  return `${start.line} ${reexport ? 'export' : 'import'} ${source} → ${target}`;
}

function reportOf(project: Project, source: SourceFile): FileReport {
  const report: FileReport = { symbols: [], imports: [] };
  const lineOf = (node: Node) => source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
  const specifiers: { node: Node; line: number; text: string; verb: string }[] = [];
  walk(source, { names: [], inFunction: false });
  const symbols = specifiers.map(({ node }) => project.checker.getSymbolAtLocation(node));
  const lines = specifiers.map(({ line, text, verb }, index) => {
    const path = symbols[index]?.declarations[0]?.path;
    const isOwn = path?.startsWith(`${projectDir}/`) && !path.includes('/node_modules/');
    return `${line} ${verb} ${text} → ${isOwn && path !== undefined ? relative(projectDir, path) : 'outside'}`;
  });
  report.imports.push(...lines);
  return report;

  function add(node: Node, kind: string, name: string, names: readonly string[]): void {
    report.symbols.push(`${lineOf(node)} ${kind} ${[...names, name].join('.')}`);
  }

  function walk(node: Node, around: { names: readonly string[]; inFunction: boolean }): void {
    node.forEachChild((child) => {
      visit(child, around);
      return undefined;
    });
  }

  function visit(node: Node, around: { names: readonly string[]; inFunction: boolean }): void {
    const named = node as Node & { name?: Node; initializer?: Node };
    const name = named.name === undefined ? '' : source.text.slice(named.name.getStart(source), named.name.end);
    specifierOf(node);
    const kind = declarations.get(node.kind) ?? signatureKind(node);
    if (kind !== undefined && (name !== '' || node.kind === SyntaxKind.Constructor)) {
      const text = name.replace(/^(['"])(.*)\1$/, '$2') || 'constructor';
      if (kind === 'parameter') {
        add(node, 'field', text, around.names.slice(0, -1));
        walk(node, around);
        return;
      }
      if (text.startsWith('[')) {
        walk(node, { ...around, inFunction: around.inFunction || isBody(node) });
        return;
      }
      add(node, kind, text, around.names);
      const names = [...around.names, text];
      walk(node, { names, inFunction: isBody(node) || (around.inFunction && !isHolder(node)) });
      return;
    }
    if (isBinaryExpression(node) && isFunction(node.right) && isPropertyAccessExpression(node.left)) {
      // A function assigned to a property is a method here.
      const { expression, name: property } = node.left;
      if (isIdentifier(expression)) {
        add(node, 'method', `${expression.text}.${property.text}`, around.names);
        walk(node, { names: [...around.names, expression.text, property.text], inFunction: true });
        return;
      }
    }
    if (node.kind === SyntaxKind.VariableDeclaration) {
      variable(node, named, around);
      return;
    }
    if (isFunction(node) || node.kind === SyntaxKind.Block || node.kind === SyntaxKind.ForOfStatement) {
      walk(node, { ...around, inFunction: true });
      return;
    }
    walk(node, around);
  }

  function variable(
    node: Node,
    named: { name?: Node; initializer?: Node },
    around: { names: readonly string[]; inFunction: boolean },
  ): void {
    const list = node.parent;
    const isConst = isVariableDeclarationList(list) && (list.flags & NodeFlags.Const) !== 0;
    const { name, initializer } = named;
    if (name === undefined) return;
    const isNamed = isIdentifier(name);
    // Names of an import are no symbols of the file, unless the file exports them.
    if (isImported(initializer) && !isExported(list.parent)) {
      walk(node, around);
      return;
    }
    const held =
      initializer &&
      (isFunction(initializer) ? 'function' : initializer.kind === SyntaxKind.ClassExpression ? 'class' : undefined);
    // `catch (error)` and `for (let i …)` declare for their block. The grammar does not know `using`.
    const isBlocks = !isVariableDeclarationList(list) || list.parent.kind === SyntaxKind.ForStatement;
    const isLocal = around.inFunction || isBlocks || (list.flags & NodeFlags.Using) !== 0;
    const isSymbol = isNamed && (held !== undefined || !isLocal);
    if (isSymbol) add(node, held ?? (isConst ? 'constant' : 'variable'), name.text, around.names);
    else if (!isLocal)
      for (const one of boundNames(name)) add(one, isConst ? 'constant' : 'variable', one.text, around.names);
    // A local variable is no symbol, and still names the declarations in its value.
    const names = isNamed ? [...around.names, name.text] : around.names;
    walk(node, { names, inFunction: around.inFunction });
  }

  /** `require('a')`, `await import('a')`. */
  function isImported(value: Node | undefined): boolean {
    const call = value?.kind === SyntaxKind.AwaitExpression ? (value as Node & { expression: Node }).expression : value;
    return call !== undefined && isCallExpression(call) && isImporting(call.expression);
  }

  function specifierOf(node: Node): void {
    const { moduleSpecifier, argument } = node as Node & { moduleSpecifier?: Node; argument?: { literal?: Node } };
    if (moduleSpecifier && isStringLiteral(moduleSpecifier)) {
      const verb = node.kind === SyntaxKind.ExportDeclaration ? 'export' : 'import';
      specifiers.push({ node: moduleSpecifier, line: lineOf(node), text: moduleSpecifier.text, verb });
    }
    // In JavaScript a type is in a comment.
    const isTyped = !/\.[cm]?js$/.test(source.fileName);
    const literal = isTyped && node.kind === SyntaxKind.ImportType ? argument?.literal : undefined;
    const first = isCallExpression(node) && isImporting(node.expression) ? node.arguments[0] : literal;
    if (first && isStringLiteral(first)) {
      specifiers.push({ node: first, line: lineOf(node), text: first.text, verb: 'import' });
    }
  }

  function isImporting(node: Node): boolean {
    return node.kind === SyntaxKind.ImportKeyword || (isIdentifier(node) && node.text === 'require');
  }
}

function isExported(statement: Node): boolean {
  const { modifiers } = statement as Node & { modifiers?: readonly Node[] };
  return modifiers?.some(({ kind }) => kind === SyntaxKind.ExportKeyword) ?? false;
}

function boundNames(pattern: Node): Identifier[] {
  if (isIdentifier(pattern)) return [pattern];
  if (!isObjectBindingPattern(pattern) && !isArrayBindingPattern(pattern)) return [];
  return pattern.elements.flatMap((element) =>
    isBindingElement(element) && element.name ? boundNames(element.name) : [],
  );
}

function isFunction({ kind }: Node): boolean {
  return kind === SyntaxKind.ArrowFunction || kind === SyntaxKind.FunctionExpression;
}

/** Members of an interface, of the object type of a type alias, and fields declared by a constructor. */
function signatureKind(node: Node): string | undefined {
  const { kind, parent, modifiers } = node as Node & { modifiers?: readonly Node[] };
  if (kind === SyntaxKind.Parameter) return modifiers && modifiers.length > 0 ? 'parameter' : undefined;
  const isDirect =
    parent.kind === SyntaxKind.InterfaceDeclaration ||
    (parent.kind === SyntaxKind.TypeLiteral && parent.parent.kind === SyntaxKind.TypeAliasDeclaration);
  if (!isDirect) return undefined;
  if (kind === SyntaxKind.PropertySignature) return 'field';
  return kind === SyntaxKind.MethodSignature ? 'method' : undefined;
}

/** Declarations inside are local. */
function isBody({ kind }: Node): boolean {
  return ![
    SyntaxKind.ClassDeclaration,
    SyntaxKind.InterfaceDeclaration,
    SyntaxKind.EnumDeclaration,
    SyntaxKind.ModuleDeclaration,
    SyntaxKind.TypeAliasDeclaration,
  ].includes(kind);
}

function isHolder(node: Node): boolean {
  return !isBody(node);
}

const declarations = new Map<SyntaxKind, string>([
  [SyntaxKind.FunctionDeclaration, 'function'],
  [SyntaxKind.ClassDeclaration, 'class'],
  [SyntaxKind.InterfaceDeclaration, 'interface'],
  [SyntaxKind.TypeAliasDeclaration, 'type'],
  [SyntaxKind.EnumDeclaration, 'enum'],
  [SyntaxKind.EnumMember, 'field'],
  [SyntaxKind.ModuleDeclaration, 'module'],
  [SyntaxKind.MethodDeclaration, 'method'],
  [SyntaxKind.Constructor, 'method'],
  [SyntaxKind.GetAccessor, 'method'],
  [SyntaxKind.SetAccessor, 'method'],
  [SyntaxKind.PropertyDeclaration, 'field'],
]);
