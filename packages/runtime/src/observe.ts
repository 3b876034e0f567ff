/** Makes a method from the original method, for each name of a port that it has. */
export type Table<Port> = {
  readonly [Name in keyof Port]?: Port[Name] extends (...input: infer Input) => infer Output
    ? (act: (...input: Input) => Output) => (...input: Input) => Output
    : never;
};

type Act = (...input: never[]) => unknown;

/**
 * The same port with other methods in front of its own: metrics, traces and redaction are tables. Methods outside of the table stay, and
 * keep the original port as `this`, for its private fields.
 */
export function observe<Port extends object>(port: Port, table: Table<Port>): Port {
  const methods = new Map<PropertyKey, unknown>();
  const methodOf = (name: PropertyKey, own: Act): unknown => {
    const made = methods.get(name) ?? wrap(table, name, own.bind(port));
    methods.set(name, made);
    return made;
  };
  return new Proxy(port, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? methodOf(name, value as Act) : value;
    },
  });
}

function wrap<Port>(table: Table<Port>, name: PropertyKey, act: Act): unknown {
  const around = Object.hasOwn(table, name) ? table[name as keyof Port] : undefined;
  return around === undefined ? act : (around as (act: unknown) => unknown)(act);
}

type AnyAct = (...input: unknown[]) => Promise<unknown>;

/** A table with one kind of method for several names. @param names each method, with the word about it */
export const tableOf = <Port, Word>(
  names: Readonly<Partial<Record<keyof Port, Word>>>,
  around: (act: AnyAct, word: Word, name: string) => AnyAct,
): Table<Port> => {
  const entries = Object.entries(names) as [string, Word][];
  return Object.fromEntries(
    entries.map(([name, word]) => [name, (act: AnyAct) => around(act, word, name)]),
  ) as Table<Port>;
};

/** Calls, and reports the seconds and the outcome: `error` where the call throws. */
export async function timed<Result>(
  act: () => Promise<Result>,
  { outcomeOf, report }: { outcomeOf: (result: Result) => string; report: (seconds: number, outcome: string) => void },
): Promise<Result> {
  const began = performance.now();
  let outcome = 'error';
  try {
    const result = await act();
    outcome = outcomeOf(result);
    return result;
  } finally {
    report((performance.now() - began) / 1000, outcome);
  }
}
