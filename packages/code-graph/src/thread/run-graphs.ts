import { existsSync } from 'node:fs';
import { readablePaths } from '@holdpoint/policy';
import { CodeGraphError } from '../errors.ts';
import { answerQuestion, checkQuestion } from '../query/answer-question.ts';
import { type Found, GraphStore, type ListedFile } from '../store/graph-store.ts';
import { type CachePlace, throwAway } from '../store/open-store.ts';
import { View } from '../view/view.ts';
import type { GivenListing, Outcome, Read, Request } from './messages.ts';
import { parseLine } from './parse-line.ts';

/** Graphs of snapshots kept in memory, of all runs together. A graph of 5,000 files takes about 10 MB. */
const maxViews = 6;
const maxStores = 8;

type AskRequest = Extract<Request, { operation: 'ask' }>;

interface OpenView {
  path: string;
  snapshot: string;
  view: View;
  /** Every blob of the graph is known. */
  isComplete: boolean;
}

/** The open stores and graphs of a thread. */
export class RunGraphs {
  readonly #stores = new Map<string, GraphStore>();
  #views: OpenView[] = [];
  /** The first parts of long listings, by store. */
  readonly #parts = new Map<string, GivenListing['entries']>();

  /** An unusable store is thrown away, and the request is repeated once on a new store. @throws CodeGraphError */
  perform(place: CachePlace, request: Request): Outcome {
    try {
      return this.#perform(place, request);
    } catch (error) {
      const trouble = troubleOf(error);
      if (trouble === undefined) throw error;
      this.#close(place.path);
      if (trouble === 'broken' || trouble === 'full') throwAway(place.path);
      if (trouble === 'full') throw noSpace();
      return this.#perform(place, request);
    }
  }

  #perform(place: CachePlace, request: Request): Outcome {
    switch (request.operation) {
      case 'ask':
        return this.#ask(place, request);
      case 'list':
        return this.#list(place, request);
      case 'part':
        return this.#addPart(place, request);
      case 'keep':
        return { kind: 'kept', refused: this.#keep(this.#store(place), request.read) };
      default:
        return request satisfies never;
    }
  }

  #ask(place: CachePlace, { question, timeout_ms, permissions }: AskRequest): Outcome {
    const deadline = performance.now() + timeout_ms;
    checkQuestion(question);
    const store = this.#store(place);
    return store.reading(() => this.#answer(place, store, { question, deadline, permissions }));
  }

  #answer(
    place: CachePlace,
    store: GraphStore,
    { question, deadline, permissions }: Pick<AskRequest, 'question' | 'permissions'> & { deadline: number },
  ): Outcome {
    const open = this.#view(place.path, question.snapshot) ?? this.#load(place.path, store, question.snapshot);
    if (open === undefined) return { kind: 'unlisted', known: this.#known(place.path, store) };
    if (!open.isComplete) {
      const blobs = open.view.unread();
      if (blobs.length > 0) return { kind: 'unread', blobs, total: blobs.length + new Set(open.view.blobs()).size };
      open.isComplete = true;
    }
    const isReadable = readablePaths(permissions) ?? (() => true);
    return { kind: 'answer', ...answerQuestion({ view: open.view, isReadable }, { ...question, deadline }) };
  }

  #list(place: CachePlace, { snapshot, listing, total }: Extract<Request, { operation: 'list' }>): Outcome {
    const store = this.#store(place);
    const { since } = listing;
    const entries = [...(this.#parts.get(place.path) ?? []), ...listing.entries];
    this.#parts.delete(place.path);
    // A restarted thread lacks some parts.
    if (entries.length !== total) return { kind: 'unlisted', known: [] };
    const changes = entries.map(({ path, oid, isLink }) => ({
      path,
      file: oid === null ? undefined : { path, oid, isLink },
    }));
    const former = since === null ? undefined : (this.#view(place.path, since) ?? this.#load(place.path, store, since));
    if (since !== null && former === undefined) return { kind: 'unlisted', known: [] };
    const view =
      former?.view.changed(changes) ??
      View.of(
        store,
        changes.flatMap(({ file }) => file ?? []),
      );
    store.list(snapshot, view.files);
    this.#keepView({ path: place.path, snapshot, view, isComplete: false });
    if (store.isLarge()) this.#forgetOthers(place.path, store);
    return { kind: 'done' };
  }

  #addPart({ path }: CachePlace, { isFirst, entries }: Extract<Request, { operation: 'part' }>): Outcome {
    this.#parts.set(path, [...(isFirst ? [] : (this.#parts.get(path) ?? [])), ...entries]);
    return { kind: 'done' };
  }

  #keep(store: GraphStore, read: readonly Read[]): number[] {
    const refused: number[] = [];
    const found = read.flatMap(({ line, ...one }, index): Found[] => {
      if (line === undefined) return [one];
      const reply = parseLine(line);
      if (reply === undefined) refused.push(index);
      if (reply === undefined) return [];
      const { language } = reply;
      return [{ ...one, language, ...('facts' in reply ? { facts: reply.facts } : { reason: reply.unparsed }) }];
    });
    store.keep(found);
    return refused;
  }

  /** Opens the store again when its file is gone: another process threw the store away, or the run was discarded. */
  #store(place: CachePlace): GraphStore {
    const known = this.#stores.get(place.path);
    if (known !== undefined && existsSync(known.file)) {
      this.#stores.delete(place.path);
      this.#stores.set(place.path, known);
      return known;
    }
    this.#close(place.path);
    const store = new GraphStore(place);
    this.#stores.set(place.path, store);
    for (const oldest of this.#stores.keys()) {
      if (this.#stores.size <= maxStores) break;
      this.#close(oldest);
    }
    return store;
  }

  #close(path: string): void {
    this.#views = this.#views.filter((one) => one.path !== path);
    const store = this.#stores.get(path);
    this.#stores.delete(path);
    try {
      store?.close();
    } catch {
      // a broken database may refuse to close
    }
  }

  #view(path: string, snapshot: string): OpenView | undefined {
    const open = this.#views.find((one) => one.path === path && one.snapshot === snapshot);
    if (open !== undefined) this.#keepView(open);
    return open;
  }

  #load(path: string, store: GraphStore, snapshot: string): OpenView | undefined {
    const files: ListedFile[] | undefined = store.listing(snapshot);
    if (files === undefined) return undefined;
    const open = { path, snapshot, view: View.of(store, files), isComplete: false };
    this.#keepView(open);
    return open;
  }

  #keepView(open: OpenView): void {
    this.#views = [open, ...this.#views.filter((one) => one !== open)].slice(0, maxViews);
  }

  #known(path: string, store: GraphStore): string[] {
    const inMemory = this.#views.filter((one) => one.path === path).map(({ snapshot }) => snapshot);
    return [...new Set([...inMemory, ...store.listed()])];
  }

  /** Keeps the facts of the listed snapshots. */
  #forgetOthers(path: string, store: GraphStore): void {
    const listed = store
      .listed()
      .map((snapshot) => (this.#view(path, snapshot) ?? this.#load(path, store, snapshot))?.view);
    store.forgetOthers(new Set(listed.flatMap((view) => view?.blobs() ?? [])));
    this.#views = this.#views.filter((one) => one.path !== path);
  }
}

/** `changed`: the database is sound, but differs from this process's copy in memory. `busy` errors belong to the infrastructure. */
function troubleOf(error: unknown): 'changed' | 'full' | 'broken' | undefined {
  if (error instanceof Error && error.name === 'StoreChangedError') return 'changed';
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'ERR_SQLITE_ERROR') return undefined;
  const number = 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : 0;
  if (number === busy) return undefined;
  return number === full ? 'full' : 'broken';
}

const noSpace = (): CodeGraphError =>
  new CodeGraphError(
    'EQUOTA',
    'There is no space for the graph.',
    'Leave files out of the workspace by the globs of its source, or free disk space; then ask again.',
  );

/** Result codes of SQLite. */
const [busy, full] = [5, 13];
