import * as unbash from 'unbash';
import { addCommand, addPart } from './add-command.ts';
import { findHazard } from './find-hazards.ts';
import { readAssignmentWord, readWord } from './read-word.ts';
import { isBashOnly } from './refuse-dialect.ts';
import type { CommandAssignment, CommandRedirect } from './simple-command.ts';
import * as walker from './walk.ts';

/** Adds the commands of a node and of all its children. */
export function visit(walk: walker.Walk, node: unbash.SyntaxNode, scope: walker.Scope): void {
  walk.nodes += 1;
  if (walk.nodes > walker.commandBounds.nodes || walk.commands.length > walker.commandBounds.commands)
    throw new walker.Unreadable('it has too many parts');
  if (walk.depth > walker.commandBounds.depth) throw new walker.Unreadable('it is nested too deeply');
  if (isBashOnly(node, scope.dialect)) walk.reason ??= 'its shell may read it in another way than bash';
  const unknown = findHazard(node);
  if (unknown) addPart(walk, scope, { position: walker.placeOf(node, scope), unknown });
  const name = assignedName(node);
  if (name !== undefined)
    addPart(walk, scope, { position: walker.placeOf(node, scope), assignments: [{ name, value: null }] });
  visitByType(walk, node, scope);
}

function visitByType(walk: walker.Walk, node: unbash.SyntaxNode, scope: walker.Scope): void {
  const inside = (changes: Partial<walker.Scope>) => visitChildren(walk, node, { ...scope, ...changes });
  switch (node.type) {
    case 'Script':
      // The parser recovers and reads on: the commands behind the error may run as well, for bash reads line by line.
      walk.reason ??= (node as unbash.ParsedScript).errors?.[0]?.message;
      break;
    case 'CommandExpansion':
    case 'ProcessSubstitution':
    case 'ArithmeticCommandExpansion':
      refuseDepth(scope);
      walker.inSubshell(walk, () => visitSubstituted(walk, node, scope));
      return;
    case 'ParameterExpansion':
      refuseDepth(scope);
      inside({ depth: scope.depth + 1 });
      return;
    case 'Statement':
      if (!node.background) break;
      walker.inSubshell(walk, () => inside({ background: true }));
      return;
    case 'Coproc':
      walker.inSubshell(walk, () => inside({ background: true }));
      return;
    case 'Subshell':
      walker.inSubshell(walk, () => inside({ subshell: true }));
      return;
    case 'AndOr':
      visitAndOr(walk, node, scope);
      return;
    case 'Pipeline':
      visitPipeline(walk, node, scope);
      return;
    case 'Function':
      walk.functions.add(node.name.value);
      walker.anywhere(walk, () =>
        inside({ bodyOf: [...scope.bodyOf, node.name.value], piped: false, background: false }),
      );
      return;
    case 'For':
    case 'Select':
    case 'While':
    case 'ArithmeticFor':
      walker.repeated(walk, () => inside({}));
      return;
    case 'Redirected': {
      const { redirects, input } = readRedirects(node.redirects);
      if (redirects.length > 0) addPart(walk, scope, { position: walker.placeOf(node, scope), redirects });
      inside(input ? { input: [] } : {});
      return;
    }
    case 'Command':
      visitCommand(walk, node, scope, () => inside({}));
      return;
    default:
  }
  inside({});
}

/** The parser reads the inside of each expansion again: depth costs more than length. */
function refuseDepth({ depth }: walker.Scope): void {
  if (depth >= walker.commandBounds.scripts) throw new walker.Unreadable('expansions are nested too deeply');
}

function visitChildren(walk: walker.Walk, node: unbash.SyntaxNode, scope: walker.Scope): void {
  walk.depth += 1;
  unbash.forEachChild(node, (child) => visit(walk, child, scope));
  walk.depth -= 1;
}

function visitSubstituted(
  walk: walker.Walk,
  node: unbash.SyntaxNode & { script: unbash.ParsedScript | undefined },
  scope: walker.Scope,
): void {
  // The script of an escaped backtick has offsets in a text of its own, so the whole script has a single place.
  const place = node.script?.source === undefined ? {} : { place: walker.placeOf(node, scope) };
  visitChildren(walk, node, { ...walker.withoutText(scope), ...place, depth: scope.depth + 1, input: [] });
}

/** After `cd a &&` the directory is sure until the list ends; after any other `cd` the change may have failed. */
function visitAndOr(walk: walker.Walk, node: unbash.AndOr, scope: walker.Scope): void {
  const before = walk.directories;
  node.commands.forEach((command, index) => {
    visit(walk, command, scope);
    const isSure = node.operators[index] === '&&' && command.type === 'Command' && command.name?.text === 'cd';
    if (isSure) walk.directories = walk.entered;
  });
  walk.directories = walker.eitherDirectory(before, walk.directories);
}

function visitPipeline(walk: walker.Walk, node: unbash.Pipeline, scope: walker.Scope): void {
  for (const prefix of node.prefixes) visit(walk, prefix, scope);
  if (node.commands.length === 1) {
    visit(walk, node.commands[0]!, scope);
    return;
  }
  const first = walk.commands.length;
  let text: string | undefined;
  for (const command of node.commands) {
    const start = walk.commands.length;
    const input = start === first ? scope.input : walk.commands.slice(first).map(({ program }) => program);
    const inside = { ...walker.withoutText(scope), input, piped: true };
    // A compound may read a part of the text before an inner shell reads the rest.
    const isGiven = text !== undefined && command.type === 'Command';
    walker.inSubshell(walk, () => visit(walk, command, isGiven ? { ...inside, text: text! } : inside));
    text = walk.commands.length === start + 1 ? walk.commands[start]!.prints : undefined;
  }
}

/** A variable set by the syntax, without an assignment. */
function assignedName(node: unbash.SyntaxNode): string | undefined {
  if (node.type === 'For' || node.type === 'Select') return node.name.value;
  if (node.type === 'Coproc') return node.name?.value ?? 'COPROC';
  if (node.type === 'FileDescriptorVariable') return node.name;
  if (node.type === 'ParameterExpansion' && node.operation?.type === 'Default' && node.operation.operator.endsWith('='))
    return node.parameter;
  return undefined;
}

/**
 * Visits a command of the syntax tree: first the substitutions of its words, then the command, then the commands started by the command.
 */
function visitCommand(walk: walker.Walk, node: unbash.Command, scope: walker.Scope, visitWords: () => void): void {
  const first = walk.commands.length;
  visitWords();
  const substituted = walk.commands.slice(first).map(({ program }) => program);
  const { redirects, text, input } = readRedirects(node.redirects);
  const assignments = node.prefix.flatMap((part) => (part.type === 'Assignment' ? [readAssignment(part)] : []));
  const position = walker.placeOf(node, scope);
  if (!node.name) {
    if (assignments.length + redirects.length > 0) addPart(walk, scope, { position, assignments, redirects });
    return;
  }
  const rest = node.args.map((word) =>
    word.type === 'Word' ? readWord(word) : readAssignmentWord(word, scope.dialect !== 'bash'),
  );
  const words = [readWord(node.name), ...rest];
  const { text: outer, ...outside } = scope;
  const given = input ? text : outer;
  const inside = { ...outside, input: input ? [] : scope.input };
  const found = { position, assignments, redirects, substituted };
  addCommand(walk, given === undefined ? inside : { ...inside, text: given }, words, found);
}

function readAssignment({
  name,
  value,
  append,
}: {
  name: string;
  value: unbash.Word | { type: 'ArrayValue' };
  append: boolean | undefined;
}): CommandAssignment {
  if (value.type === 'ArrayValue' || append) return { name, value: null };
  const word = readWord(value);
  return { name, value: word.static ? word.value : null };
}

/** Files opened by redirects, and the standard input contained in the line. */
function readRedirects(nodes: readonly unbash.Redirection[]): {
  redirects: CommandRedirect[];
  text?: string;
  input: boolean;
} {
  const redirects: CommandRedirect[] = [];
  let text: string | undefined;
  let input = false;
  for (const node of nodes) {
    const isInput = !node.descriptor || (node.descriptor.type === 'FileDescriptor' && node.descriptor.value === 0);
    if (node.type === 'Redirect') {
      if (!node.target || isDuplicate(node.operator, node.target.value)) continue;
      const word = readWord(node.target);
      const path = word.value;
      const { operator } = node;
      if (operator === '<' || operator === '<>') redirects.push({ path, access: 'read', static: word.static });
      if (operator === '<>' || !operator.includes('<'))
        redirects.push({ path, access: operator.includes('>>') ? 'append' : 'write', static: word.static });
      if (operator === '<' && isInput) {
        text = undefined;
        input = true;
      }
    } else if (isInput) {
      text = node.type === 'HereDoc' ? readBody(node) : node.target && readStatic(node.target);
      input = true;
    }
  }
  return text === undefined ? { redirects, input } : { redirects, text, input };
}

/** `2>&1`, `>&-`, `<&3-`: another number for an open file. */
function isDuplicate(operator: string, target: string): boolean {
  if (operator === '<&') return true;
  return operator === '>&' && [...target].every((sign) => (sign >= '0' && sign <= '9') || sign === '-');
}

function readStatic(target: Parameters<typeof readWord>[0]): string | undefined {
  const word = readWord(target);
  return word.static ? word.value : undefined;
}

function readBody({ body, delimiter }: unbash.HereDoc): string | undefined {
  if (delimiter?.quoted) return body.text;
  if (body.parts?.some((part) => part.type !== 'Literal')) return undefined;
  return body.text.includes('\\') ? undefined : body.text;
}
