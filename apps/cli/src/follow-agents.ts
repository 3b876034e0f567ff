import { setTimeout as delay } from 'node:timers/promises';
import { ApiError, type Client } from '@holdpoint/client';
import type { RunEvent } from '@holdpoint/contract/wire';
import { shortId } from './naming/ids.ts';
import { fit, oneLine, plain } from './output/index.ts';
import { commandLine } from './shell/index.ts';
import { nestedScreen, openRunView, type RunView, type RunViewOptions, type Screen } from './view/index.ts';

/** The sub-agents of a followed run, each below its starting call. */
export interface AgentFollower {
  /** Resolves when the sub-agent's events stand above the event of its end. */
  event(event: RunEvent, screen: Screen): Promise<void>;
  tick(): void;
  /** Closes the streams of sub-agents. */
  close(): Promise<void>;
}

interface Deps extends Pick<RunViewOptions, 'colors' | 'asks' | 'now'> {
  client: Pick<Client, 'getRun' | 'liveEvents'>;
  /** The patience with a lost API. */
  patienceMs: number;
  /** Called after an event of a sub-agent was shown. */
  onEvent(event: RunEvent, screen: Screen): void;
}

/** Streams for a single person: a key may have 50 by default. */
const mostAtOnce = 8;
/** The log of a sub-agent is complete when its task ends, but its stream may be late. */
const lateMs = 3000;
const askAgainMs = 300;

export function openAgentFollower({ client, patienceMs, onEvent, ...options }: Deps): AgentFollower {
  const leaving = new AbortController();
  const followed = new Map<string, { view: RunView; over: AbortController; done: Promise<void> }>();
  let open = 0;

  async function event(one: RunEvent, screen: Screen): Promise<void> {
    if (one.type === 'task.created') begin(one.data, screen);
    if (one.type !== 'task.ended') return;
    await Promise.race([
      followed.get(one.data.task_id)?.done,
      delay(lateMs, undefined, { signal: leaving.signal }),
    ]).catch(() => undefined);
    followed.get(one.data.task_id)?.over.abort();
    followed.delete(one.data.task_id);
  }

  function begin({ task_id, child, title, agent }: TaskCreated, screen: Screen): void {
    if (child === undefined) return;
    const name = oneLine([agent && `${agent}:`, title].filter(Boolean).join(' '));
    const isTooMany = open >= mostAtOnce;
    const trail = isTooMany ? ` · ${commandLine('watch', shortId(child))}` : ` · ${shortId(child)}`;
    const head = `  ↳ ${fit(name, Math.max(12, screen.width - trail.length - 4))}${options.colors.dim(trail)}`;
    if (isTooMany) {
      screen.print([head]);
      return;
    }
    const nested = nestedScreen(screen, { head, place: child });
    const view = openRunView({ ...options, screen: nested, isAgent: true });
    open += 1;
    const over = new AbortController();
    const signal = AbortSignal.any([leaving.signal, over.signal]);
    const done = follow(child, { view, screen: nested, signal }).finally(() => {
      open -= 1;
      nested.close();
    });
    followed.set(task_id, { view, over, done });
  }

  async function follow(child: string, { view, screen, signal }: Nested): Promise<void> {
    try {
      await submitted(child, signal);
      for await (const one of client.liveEvents(child, { signal, patienceMs })) {
        if (one.type === 'live') view.frame(one);
        else {
          await event(one, screen);
          view.event(one);
          onEvent(one, screen);
        }
      }
    } catch (error) {
      if (signal.aborted) return;
      const why = error instanceof Error ? error.message : String(error);
      screen.print([`not followed: ${oneLine(plain(why), screen.width - 14)}`]);
    }
  }

  /** The task of a sub-agent is in the log before its run is. */
  async function submitted(child: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      try {
        await client.getRun(child, { signal });
        return;
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 404) throw error;
        await delay(askAgainMs, undefined, { signal });
      }
    }
  }

  return {
    event,
    tick() {
      for (const { view } of followed.values()) view.tick();
    },
    async close() {
      leaving.abort();
      await Promise.all([...followed.values()].map(({ done }) => done));
    },
  };
}

interface Nested {
  view: RunView;
  screen: Screen;
  signal: AbortSignal;
}

type TaskCreated = Extract<RunEvent, { type: 'task.created' }>['data'];
