/** A form of a secret, and the name in its replacement. */
export interface Pattern {
  bytes: Uint8Array;
  name: string;
}

/**
 * A tree of all patterns with links to the longest other beginning that still fits (Aho and Corasick): a single pass finds all patterns.
 */
export class Automaton {
  /** Length of the longest pattern. */
  readonly longest: number;
  readonly #root = new Int32Array(256);
  /** The byte of a node's only child, or -1; most nodes have a single child. Further children are in `#more`. */
  readonly #byte: Int32Array;
  readonly #child: Int32Array;
  readonly #hasMore: Uint8Array;
  readonly #more = new Map<number, number>();
  readonly #fail: Int32Array;
  readonly #depth: Int32Array;
  /** Length of the shortest pattern that goes through a node. */
  readonly #shortest: Int32Array;
  /** The longest pattern with its end at a node: its index + 1. 0: none. */
  readonly #ends: Int32Array;
  readonly #patterns: readonly Pattern[];

  constructor(patterns: readonly Pattern[]) {
    const most = patterns.reduce((sum, { bytes }) => sum + bytes.length, 1);
    this.#patterns = patterns;
    this.longest = patterns.reduce((most, { bytes }) => Math.max(most, bytes.length), 0);
    this.#byte = new Int32Array(most).fill(-1);
    this.#child = new Int32Array(most);
    this.#hasMore = new Uint8Array(most);
    this.#fail = new Int32Array(most);
    this.#depth = new Int32Array(most);
    this.#shortest = new Int32Array(most);
    this.#ends = new Int32Array(most);
    let nodes = 1;
    patterns.forEach(({ bytes }, index) => {
      let node = 0;
      for (const byte of bytes) {
        const next = this.#childOf(node, byte);
        if (next !== 0) node = next;
        else {
          this.#addChild(node, byte, nodes);
          this.#depth[nodes] = (this.#depth[node] ?? 0) + 1;
          node = nodes++;
        }
        const shortest = this.#shortest[node] || bytes.length;
        this.#shortest[node] = Math.min(shortest, bytes.length);
      }
      this.#ends[node] ||= index + 1;
    });
    this.#link();
  }

  /** The node after a byte. 0: no pattern begins with the last bytes. */
  next(node: number, byte: number): number {
    let at = node;
    for (;;) {
      if (at === 0) return this.#root[byte] as number;
      if (this.#byte[at] === byte) return this.#child[at] as number;
      if (this.#hasMore[at] !== 0) {
        const other = this.#more.get(at * 256 + byte);
        if (other !== undefined) return other;
      }
      at = this.#fail[at] as number;
    }
  }

  /** How many of the last bytes may become a match, or belong to a match with its end here. */
  depth(node: number): number {
    return this.#depth[node] as number;
  }

  /** How many of the last bytes are half of a pattern or more; 0: none. Less than half stands in many a text. */
  likely(node: number): number {
    let at = node;
    while (at !== 0 && this.depth(at) * 2 < (this.#shortest[at] as number)) at = this.#fail[at] as number;
    return this.depth(at);
  }

  /** The longest pattern with its end at a node. */
  match(node: number): Pattern | undefined {
    const index = this.#ends[node] as number;
    return index === 0 ? undefined : this.#patterns[index - 1];
  }

  #childOf(node: number, byte: number): number {
    if (node === 0) return this.#root[byte] ?? 0;
    if (this.#byte[node] === byte) return this.#child[node] ?? 0;
    return this.#more.get(node * 256 + byte) ?? 0;
  }

  #addChild(node: number, byte: number, child: number): void {
    if (node === 0) this.#root[byte] = child;
    else if (this.#byte[node] === -1) {
      this.#byte[node] = byte;
      this.#child[node] = child;
    } else {
      this.#hasMore[node] = 1;
      this.#more.set(node * 256 + byte, child);
    }
  }

  /** By increasing depth: the links of shorter beginnings are there when longer ones need them. */
  #link(): void {
    const further = new Map<number, [number, number][]>();
    for (const [key, child] of this.#more) {
      const node = Math.floor(key / 256);
      further.set(node, [...(further.get(node) ?? []), [key % 256, child]]);
    }
    const queue = [...this.#root].filter((child) => child !== 0);
    for (let at = 0; at < queue.length; at++) {
      const node = queue[at] as number;
      const own: [number, number][] = this.#byte[node] === -1 ? [] : [[this.#byte[node] ?? 0, this.#child[node] ?? 0]];
      for (const [byte, child] of [...own, ...(further.get(node) ?? [])]) {
        const link = this.next(this.#fail[node] ?? 0, byte);
        this.#fail[child] = link;
        this.#ends[child] ||= this.#ends[link] ?? 0;
        queue.push(child);
      }
    }
  }
}
