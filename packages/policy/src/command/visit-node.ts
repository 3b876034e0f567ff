import { type AndOr, forEachChild, type Pipeline, type SyntaxNode } from 'unbash';
import { addPart } from './add-command.ts';
import { findHazard } from './find-hazards.ts';
import { readRedirects } from './read-redirects.ts';
import { refuseDialect } from './refuse-dialect.ts';
import { visitCommand } from './visit-command.ts';
import { commandBounds, eitherDirectory, inSubshell, placeOf, type Scope, Unreadable, type Walk } from './walk.ts';

/** Adds the commands of a node and of everything in it. */
export function visit(walk: Walk, node: SyntaxNode, scope: Scope): void {
  walk.nodes += 1;
  if (walk.nodes > commandBounds.nodes || walk.commands.length > commandBounds.commands)
    throw new Unreadable('it has too many parts');
  refuseDialect(node, scope.dialect);
  const hazard = findHazard(node);
  if (hazard) addPart(walk, scope, { position: placeOf(node, scope), unknown: hazard });
  visitByType(walk, node, scope);
}

function visitByType(walk: Walk, node: SyntaxNode, scope: Scope): void {
  const children = (inside: Scope) => forEachChild(node, (child) => visit(walk, child, inside));
  switch (node.type) {
    case 'Script':
      if ('errors' in node && node.errors?.[0]) throw new Unreadable(node.errors[0].message);
      return children(scope);
    case 'CommandExpansion':
    case 'ProcessSubstitution':
    case 'ArithmeticCommandExpansion': {
      if (scope.depth >= commandBounds.scripts) throw new Unreadable('substitutions are nested too deeply');
      const { text: _, ...outside } = scope;
      // The script of an escaped backtick has offsets in a text of its own, so all of it has one place.
      const place = node.script?.source === undefined ? {} : { place: placeOf(node, scope) };
      return inSubshell(walk, () => children({ ...outside, ...place, depth: scope.depth + 1, input: [] }));
    }
    case 'Statement':
      return node.background ? inSubshell(walk, () => children({ ...scope, background: true })) : children(scope);
    case 'Coproc':
      return inSubshell(walk, () => children({ ...scope, background: true }));
    case 'Subshell':
      return inSubshell(walk, () => children({ ...scope, subshell: true }));
    case 'AndOr':
      return visitAndOr(walk, node, scope);
    case 'Pipeline':
      return visitPipeline(walk, node, scope);
    case 'Function': {
      walk.functions.add(node.name.value);
      const bodyOf = [...scope.bodyOf, node.name.value];
      return visitElsewhere(walk, () => children({ ...scope, bodyOf, piped: false, background: false }));
    }
    case 'For':
    case 'Select':
      addPart(walk, scope, { position: placeOf(node, scope), assignments: [{ name: node.name.value, value: null }] });
      return visitLoop(walk, () => children(scope));
    case 'While':
    case 'ArithmeticFor':
      return visitLoop(walk, () => children(scope));
    case 'ParameterExpansion':
      if (node.operation?.type === 'Default' && node.operation.operator.endsWith('=')) {
        const assignments = [{ name: node.parameter, value: null }];
        addPart(walk, scope, { position: placeOf(node, scope), assignments });
      }
      return children(scope);
    case 'Redirected': {
      const { redirects, text } = readRedirects(node.redirects);
      if (redirects.length > 0) addPart(walk, scope, { position: placeOf(node, scope), redirects });
      return children(text === undefined ? scope : { ...scope, text, input: [] });
    }
    case 'Command':
      return visitCommand(walk, node, scope, () => children(scope));
    default:
      return children(scope);
  }
}

/** After `cd a &&` the directory is sure until the list ends; after any other `cd` it may have failed. */
function visitAndOr(walk: Walk, node: AndOr, scope: Scope): void {
  const before = walk.directories;
  node.commands.forEach((command, index) => {
    visit(walk, command, scope);
    const isSure = node.operators[index] === '&&' && command.type === 'Command' && command.name?.text === 'cd';
    if (isSure) walk.directories = walk.entered;
  });
  walk.directories = eitherDirectory(before, walk.directories);
}

function visitPipeline(walk: Walk, node: Pipeline, scope: Scope): void {
  for (const prefix of node.prefixes) visit(walk, prefix, scope);
  if (node.commands.length === 1) return visit(walk, node.commands[0]!, scope);
  const first = walk.commands.length;
  let { text } = scope;
  for (const command of node.commands) {
    const start = walk.commands.length;
    const programs = walk.commands.slice(first).map(({ program }) => program);
    const { text: _, ...outside } = scope;
    const input = start === first ? scope.input : programs;
    const inside = { ...outside, input, piped: true };
    inSubshell(walk, () => visit(walk, command, text === undefined ? inside : { ...inside, text }));
    text = walk.commands.length === start + 1 ? walk.commands[start]!.prints : undefined;
  }
}

/** The body may run in a later place of the line, after any `cd`. */
function visitElsewhere(walk: Walk, body: () => void): void {
  const before = walk.directories;
  walk.directories = [undefined];
  body();
  walk.directories = before;
}

/** A body that changes the directory runs somewhere else the second time. */
function visitLoop(walk: Walk, body: () => void): void {
  const before = walk.directories;
  const first = walk.commands.length;
  body();
  if (walk.directories === before || walk.directories.every((directory) => before.includes(directory))) return;
  walk.commands.length = first;
  walk.directories = [undefined];
  body();
  walk.directories = [undefined];
}
