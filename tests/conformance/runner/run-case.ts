import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Case, Setup } from './case.ts';
import { closedPort } from './closed-port.ts';
import { openDecider } from './decider.ts';
import { digestTree } from './digest-tree.ts';
import { fillIn, names } from './fill-in.ts';
import { expandGenerators } from './generate.ts';
import { type Failure, judge } from './judge.ts';
import { setModes } from './modes.ts';
import { observe } from './observe.ts';
import { openRun } from './open-run.ts';
import { saveValues } from './save-values.ts';
import { writeSource } from './source.ts';
import { specialOf } from './special/index.ts';
import { type Made, makeCalls, type Scene, SpecialError } from './special/special.ts';
import { validatorsOf } from './special/transaction.ts';
import { openHttpStub } from './stubs/http.ts';
import type { Bench } from './system.ts';
import type { Adapter, RunFields } from './toolsets/adapter.ts';
import { adapterOf } from './toolsets/index.ts';

/** Runs a case in a run of its own. @returns the failed expectations */
export async function runCase(bench: Bench, given: Case): Promise<Failure[]> {
  const adapter = adapterOf(given.toolset);
  if (!adapter || !bench.toolsets.includes(given.toolset)) {
    return [{ pointer: '/toolset', expected: `one of ${bench.toolsets.join(', ')}`, got: given.toolset }];
  }
  const folder = await mkdtemp(join(bench.directory, 'case-'));
  const [source, outside] = [join(folder, 'source'), join(folder, 'outside')];
  await using http = given.setup.http !== undefined || names(given, 'PORT') ? await openHttpStub() : undefined;
  const values = new Map([
    ['WS', '/workspace'],
    ['OUT', outside],
    ['PORT', http ? String(http.port) : ''],
    ['CLOSED_PORT', names(given, 'CLOSED_PORT') ? String(await closedPort()) : ''],
  ]);
  const { setup, call } = fillIn({ setup: given.setup, call: given.call }, values);
  http?.serve(setup.http ?? []);
  setStubs(bench, setup);
  await writeSource({ source, outside }, setup);
  const place = { source, outside, before: await digestTree(outside) };

  const run = await openRun(bench.system, source, {
    title: given.id,
    toolset: given.toolset,
    validators: validatorsOf(call),
    secrets: Object.keys(setup.secrets ?? {}).map((name) => ({ name, as: { placeholder: 'files' as const } })),
    ...fieldsOf(bench, adapter, { setup, call, values }),
  });
  const scene: Scene = {
    bench,
    run,
    adapter,
    toolset: given.toolset,
    decider: openDecider(bench.system.client, { setup, call }),
  };
  await setModes(() => run.tree(), setup);
  for (const { tool, args, save = {} } of setup.calls) {
    const calls = [{ tool, args: expandGenerators(fillIn(args, values)) }];
    const [step] = await run.make(calls, { decide: scene.decider.approve });
    saveValues(values, save, adapter.root(step?.result ?? null));
  }
  await pause(setup.wait_ms);
  const made = await make(scene, fillIn(call, values));
  const expect = fillIn(given.expect, values);
  const observed = await observe(scene, made, { expect, place, tool: call.tool, hits: http?.hits() ?? 0 });
  return judge(expect, observed, call);
}

/** A run names every host in its reach, the search engine's included. */
function fieldsOf(
  { stubs }: Bench,
  adapter: Adapter,
  { setup, call, values }: Pick<Case, 'setup' | 'call'> & { values: ReadonlyMap<string, string> },
): RunFields {
  const ports = ['PORT', 'CLOSED_PORT'].flatMap((name) => values.get(name) || []);
  const own = ports.map((port) => `127.0.0.1:${port}`);
  const fields = adapter.fields({ config: setup.config, context: call.context, stubs: own });
  if (setup.search === undefined) return fields;
  const allow = [...(fields.network?.allow ?? []), `127.0.0.1:${stubs.search.port}`];
  return { ...fields, network: { allow } };
}

async function make(scene: Scene, { tool, args }: Case['call']): Promise<Made> {
  const expanded = expandGenerators(args) as Case['call']['args'];
  const special = specialOf(tool);
  if (special) return special(scene, expanded);
  if (tool.startsWith('$')) throw new SpecialError(`there is no special tool ${tool}`);
  const steps = await makeCalls(scene, [{ tool, args: expanded }]);
  const native = steps[0]?.result ?? null;
  return { native, ok: scene.adapter.ok(native), steps };
}

function setStubs({ stubs }: Bench, { search, model, agent, graph }: Setup): void {
  if (search) stubs.search.find(search);
  if (model) stubs.model.reply(model.reply);
  if (agent) stubs.model.act(agent);
  if (graph) stubs.graph.answer(graph);
}

/** Whether a case uses a server shared by all cases. */
export const isShared = ({ setup: { search, model, agent, graph } }: Case): boolean =>
  [search, model, agent, graph].some((stub) => stub !== undefined);
