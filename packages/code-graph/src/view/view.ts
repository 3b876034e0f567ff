import { CodeGraphError } from '../errors.ts';
import type { FileFacts, ImportFact } from '../facts.ts';
import { type Language, languages } from '../grammars/grammar-of.ts';
import type { ImportTarget } from '../resolve/index-paths.ts';
import { type ImportResolver, isConfiguration, openImportResolver } from '../resolve/open-import-resolver.ts';
import type { ReadableGraph, SymbolPlace } from '../resolve/readable-graph.ts';
import type { Blob, GraphStore, ListedFile } from '../store/graph-store.ts';
import { configurationHint, hintOf, hintsToRead } from './hint.ts';

export interface Unread {
  oid: string;
  hint: string;
}

/** Imports of these languages name modules, and any file may declare a module. */
const importsModules: ReadonlySet<string> = new Set(['csharp', 'php'] satisfies Language[]);

/** The graph of a snapshot: its files, and the facts of their blobs. Computed results stay in memory. */
export class View implements ReadableGraph {
  readonly #store: GraphStore;
  readonly #files: ReadonlyMap<string, ListedFile>;
  #paths: readonly string[] | undefined;
  #pathsOfBlobs: Map<number, string[]> | undefined;
  #resolver: ImportResolver | undefined;
  #targets = new Map<string, readonly ImportTarget[]>();
  #targetCount = 0;
  #importers: Map<string, string[]> | undefined;
  #namedCount = 0;
  readonly #named = new Map<string, readonly SymbolPlace[]>();

  private constructor(store: GraphStore, files: ReadonlyMap<string, ListedFile>) {
    this.#store = store;
    this.#files = files;
  }

  static of(store: GraphStore, files: Iterable<ListedFile>): View {
    return new View(store, new Map(Array.from(files, (file) => [file.path, file])));
  }

  /** The graph of a snapshot with changes against this snapshot. Keeps every result untouched by the changes. */
  changed(changes: readonly { path: string; file: ListedFile | undefined }[]): View {
    const files = new Map(this.#files);
    for (const { path, file } of changes) {
      if (file === undefined) files.delete(path);
      else files.set(path, file);
    }
    const next = new View(this.#store, files);
    const isSameShape = changes.every(({ path, file }) => {
      const old = this.#files.get(path);
      return old !== undefined && file !== undefined && old.isLink === file.isLink;
    });
    if (isSameShape) next.#paths = this.#paths;
    if (isSameShape && changes.every(({ path }) => this.#leavesImports(path))) {
      next.#resolver = this.#resolver;
      next.#targets = new Map(this.#targets);
      for (const { path } of changes) next.#targets.delete(path);
      next.#targetCount = this.#targetCount;
    }
    return next;
  }

  get files(): Iterable<ListedFile> {
    return this.#files.values();
  }

  /** Sorted. */
  get paths(): readonly string[] {
    this.#paths ??= [...this.#files.keys()].sort(byPlace);
    return this.#paths;
  }

  file(path: string): ListedFile | undefined {
    return this.#files.get(path);
  }

  /** Unread blobs, each once. */
  unread(): Unread[] {
    const found = new Map<string, Unread>();
    for (const { path, oid, isLink } of this.#files.values()) {
      if (isLink) continue;
      for (const hint of hintsToRead(path)) {
        const key = `${oid} ${hint}`;
        if (!found.has(key) && this.#store.blob(oid, hint) === undefined) found.set(key, { oid, hint });
      }
    }
    return [...found.values()];
  }

  /** Ids of all blobs of the graph. */
  blobs(): number[] {
    return [...this.#files.values()].flatMap(({ path, oid }) =>
      hintsToRead(path).flatMap((hint) => this.#store.blob(oid, hint)?.id ?? []),
    );
  }

  blobOf(path: string): Blob | undefined {
    const file = this.#files.get(path);
    return file === undefined || file.isLink ? undefined : this.#store.blob(file.oid, hintOf(path));
  }

  languageOf(path: string): Language | undefined {
    const language = this.blobOf(path)?.language;
    return languages.find((one) => one === language);
  }

  factsOf(path: string): FileFacts | undefined {
    const blob = this.blobOf(path);
    return blob === undefined || blob.reason !== null ? undefined : this.#store.facts(blob.id);
  }

  importsOf(path: string): readonly ImportFact[] {
    const blob = this.blobOf(path);
    return blob === undefined || blob.reason !== null ? [] : this.#store.imports(blob.id);
  }

  targetsOf(path: string): readonly ImportTarget[] {
    const known = this.#targets.get(path);
    if (known !== undefined) return known;
    const language = this.languageOf(path);
    const found =
      language === undefined
        ? []
        : this.importsOf(path).map((fact) => this.#imports().resolve({ path, language, fact }));
    this.#targetCount += countTargets(found);
    if (this.#targetCount > mostTargets) {
      this.#targets = new Map();
      this.#targetCount = 0;
      throw tooMany('imports', mostTargets);
    }
    this.#targets.set(path, found);
    return found;
  }

  /** Paths of the files with an import of a file, sorted. */
  importersOf(path: string): readonly string[] {
    this.#importers ??= this.#readImporters();
    return this.#importers.get(path) ?? [];
  }

  #readImporters(): Map<string, string[]> {
    const importers = new Map<string, string[]>();
    for (const importer of this.paths) {
      for (const target of new Set(this.targetsOf(importer).flatMap(({ files }) => files))) {
        const known = importers.get(target) ?? [];
        known.push(importer);
        importers.set(target, known);
      }
    }
    return importers;
  }

  symbolsNamed(name: string): readonly SymbolPlace[] {
    const known = this.#named.get(name);
    if (known !== undefined) return known;
    const declaring = this.#store.declaring(name);
    let count = 0;
    for (const { blob, places } of declaring) count += this.#pathsOf(blob).length * places.length;
    // Counted first: links and copies of a file multiply its declarations.
    if (count > mostPlaces) throw tooMany(`declarations of ${JSON.stringify(name.slice(0, 100))}`, mostPlaces);
    this.#namedCount += count;
    if (this.#namedCount > mostPlaces) {
      this.#named.clear();
      this.#namedCount = count;
    }
    const found = declaring
      .flatMap(({ blob, places }) => this.#pathsOf(blob).flatMap((path) => places.map((index) => ({ path, index }))))
      .sort((a, b) => byPlace(a.path, b.path) || a.index - b.index);
    this.#named.set(name, found);
    return found;
  }

  /** Paths of files with a use of a name, sorted. */
  pathsUsing(name: string): string[] {
    return this.#sorted(this.#store.blobsUsing(name));
  }

  /**
   * Paths of files with a possible declaration of a fitting name, sorted: all paths when many names fit.
   * @param input.part a text contained in each fitting name. @default unknown
   */
  pathsDeclaring({ fits, part = '' }: { fits: (name: string) => boolean; part?: string }): readonly string[] {
    const names: number[] = [];
    for (const { id, text } of this.#store.names(part)) {
      if (!fits(text)) continue;
      names.push(id);
      if (names.length > mostNames) return this.paths;
    }
    return this.#sorted([...new Set(names.flatMap((name) => this.#store.blobsDeclaring(name)))]);
  }

  #sorted(blobs: readonly number[]): string[] {
    return blobs.flatMap((blob) => this.#pathsOf(blob)).sort(byPlace);
  }

  #pathsOf(blob: number): readonly string[] {
    if (this.#pathsOfBlobs === undefined) {
      this.#pathsOfBlobs = new Map();
      for (const path of this.#files.keys()) {
        const id = this.blobOf(path)?.id;
        if (id === undefined) continue;
        const known = this.#pathsOfBlobs.get(id) ?? [];
        known.push(path);
        this.#pathsOfBlobs.set(id, known);
      }
    }
    return this.#pathsOfBlobs.get(blob) ?? [];
  }

  #imports(): ImportResolver {
    this.#resolver ??= openImportResolver({
      paths: [...this.#files.values()].filter(({ isLink }) => !isLink).map(({ path }) => path),
      configuration: this.#configuration(),
      filesOfModule: (name) => this.#sorted(this.#store.blobsOfModule(name)),
    });
    return this.#resolver;
  }

  #configuration(): Map<string, string> {
    const texts = new Map<string, string>();
    for (const { path, oid, isLink } of this.#files.values()) {
      if (isLink || !isConfiguration(path)) continue;
      const blob = this.#store.blob(oid, configurationHint);
      if (blob !== undefined && blob.reason === null) texts.set(path, this.#store.text(blob.id));
    }
    return texts;
  }

  /**
   * Whether another content of the file leaves the imports of all other files as they are. A file without an extension may become another
   * language.
   */
  #leavesImports(path: string): boolean {
    const language = this.blobOf(path)?.language ?? '';
    return hintOf(path).startsWith('.') && !isConfiguration(path) && !importsModules.has(language);
  }
}

/** Looking for each of them takes longer than reading all files. */
const mostNames = 2000;

/** Declarations of the same name, and of all names kept in memory. Some 100 bytes each. */
const mostPlaces = 500_000;
/** Targets of imports, of all files of a snapshot. Each takes some 100 bytes. */
const mostTargets = 1_000_000;

const countTargets = (targets: readonly ImportTarget[]): number =>
  targets.reduce((count, { files }) => count + 1 + files.length, 0);

const tooMany = (what: string, most: number): CodeGraphError =>
  new CodeGraphError(
    'EQUOTA',
    `The graph of this snapshot has more than ${most} ${what}.`,
    'Leave copies and generated files out of the workspace by the globs of its source (exclude), or search the text instead.',
  );

const byPlace = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
