import type * as unbash from 'unbash';

/**
 * The reason why the shell may run a command hidden from the text, when the shell expands `node` (without its children). Bash evaluates the
 * content of variables as code in arithmetic (`x='a[$(id)]'; echo $((x))`), in subscripts, in `${!x}` and in `${x@P}`.
 */
export function findHazard(node: unbash.SyntaxNode): string | undefined {
  switch (node.type) {
    case 'ArithmeticWord':
      return arithmeticHazard(node);
    case 'ParameterExpansion':
      return expansionHazard(node);
    case 'TestUnary':
      return testUnaryHazard(node);
    case 'TestBinary':
      return testBinaryHazard(node);
    case 'Coproc':
      return node.name && !isName(node.name.text) ? 'a subscript is evaluated as arithmetic' : undefined;
    case 'Assignment':
      return node.index && !isNumber(node.index.value) ? 'a subscript is evaluated as arithmetic' : undefined;
    case 'ArrayValue':
      return node.elements.some(({ value }) => value.startsWith('['))
        ? 'a subscript is evaluated as arithmetic'
        : undefined;
    case 'ArithmeticExpansion':
    case 'ArithmeticCommand':
      return node.expression ? undefined : 'arithmetic was not read';
    case 'ArithmeticCommandExpansion':
      return 'arithmetic evaluates what a command prints';
    case 'CommandExpansion':
    case 'ProcessSubstitution':
      return node.script ? undefined : 'a substitution was not read';
    default:
      return undefined;
  }
}

function arithmeticHazard({ value }: unbash.ArithmeticWord): string | undefined {
  return isNumber(value) ? undefined : 'arithmetic evaluates what a variable contains';
}

function expansionHazard({ prefix, index, operation }: unbash.ParameterExpansionPart): string | undefined {
  if (prefix === '!' && operation?.type !== 'Names') return 'an indirect expansion evaluates what a variable contains';
  if (index && !isNumber(index.value) && index.value !== '@' && index.value !== '*')
    return 'a subscript is evaluated as arithmetic';
  if (operation?.type === 'Unknown') return 'an expansion is not known';
  if (operation?.type === 'Transform' && !'QEAaUuLKk'.includes(operation.operand.value))
    return 'a prompt expansion evaluates what a variable contains';
  if (operation?.type === 'Slice') {
    const isPlain = [operation.offset, operation.length].every((word) => !word || isNumber(word.value.trim()));
    return isPlain ? undefined : 'a slice evaluates what a variable contains';
  }
  return undefined;
}

function testUnaryHazard({ operator, operand }: unbash.TestUnaryExpression): string | undefined {
  if (operator !== '-v' && operator !== '-R') return undefined;
  return isName(operand.text) ? undefined : 'a test of a variable evaluates its subscript';
}

const numericOperators = new Set(['-eq', '-ne', '-lt', '-le', '-gt', '-ge']);

function testBinaryHazard({ operator, left, right }: unbash.TestBinaryExpression): string | undefined {
  if (!numericOperators.has(operator) || (isNumber(left.value) && isNumber(right.value))) return undefined;
  return 'a numeric test evaluates what a variable contains';
}

const isName = (text: string): boolean => /^[A-Za-z_]\w*$/.test(text);

/** Digits only: a name, a subscript or an expansion is evaluated. */
function isNumber(text: string): boolean {
  return (
    text !== '' && [...(text.startsWith('-') ? text.slice(1) : text)].every((digit) => digit >= '0' && digit <= '9')
  );
}
