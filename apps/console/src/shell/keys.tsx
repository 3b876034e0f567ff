import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { KeysHelp, useLetters } from './keys-help.tsx';

/** Asks a virtual list for its next failure: the row has no element yet. */
export const nextFailure = 'holdpoint.next-failure';

/** Pause between the letters of a pair such as `g r`. */
const pairMs = 1500;

/**
 * The keys of every page. They move and open, and never decide. Rows of lists have `data-row`, failed ones `data-failed`, and the search field
 * `data-search`.
 */
export function Keys() {
  const [, go] = useLocation();
  const areOn = useLetters();
  const [isHelp, setHelp] = useState(false);
  useEffect(() => {
    if (!areOn) return;
    let leader: { key: string; at: number } | undefined;
    const act = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTaken(event)) return;
      const pair =
        leader !== undefined && event.timeStamp - leader.at < pairMs ? `${leader.key} ${event.key}` : undefined;
      leader = event.key === 'g' ? { key: 'g', at: event.timeStamp } : undefined;
      const action = actions[pair ?? event.key];
      if (action === undefined) return;
      event.preventDefault();
      action();
    };
    const actions: Record<string, (() => void) | undefined> = {
      j: () => move('[data-row]', 1),
      k: () => move('[data-row]', -1),
      n: () => {
        if (!move('[data-failed]', 1)) document.dispatchEvent(new Event(nextFailure));
      },
      '/': () => document.querySelector<HTMLElement>('[data-search]')?.focus(),
      '?': () => setHelp(true),
      'g a': () => go('/approvals'),
      'g r': () => go('/runs'),
      'g n': () => go('/new'),
    };
    document.addEventListener('keydown', act);
    return () => document.removeEventListener('keydown', act);
  }, [areOn, go]);
  return isHelp ? <KeysHelp onClose={() => setHelp(false)} /> : null;
}

/** A field takes its letters itself, and a dialog has keys of its own. */
function isTaken({ target }: KeyboardEvent): boolean {
  if (document.querySelector('dialog[open]') !== null) return true;
  return (
    target instanceof Element &&
    target.closest('input:not([type="checkbox"]), textarea, select, [contenteditable]') !== null
  );
}

/** Moves the focus to the next of these after the place of the focus, in either direction. */
function move(selector: string, by: 1 | -1): boolean {
  const all = [...document.querySelectorAll<HTMLElement>(selector)].toSorted(byPlace);
  const here = document.activeElement;
  const after =
    here !== null && document.getElementById('main')?.contains(here) && here.id !== 'main' ? here : undefined;
  const next = by === 1 ? all.find((one) => isAfter(one, after)) : all.findLast((one) => isBefore(one, after));
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
  return next !== undefined;
}

/** A virtual list keeps rows in the document in any order: their places on the screen count. */
const topOf = (element: Element): number => element.getBoundingClientRect().top;
const byPlace = (one: Element, other: Element): number => topOf(one) - topOf(other);
const isAfter = (one: Element, here: Element | undefined): boolean =>
  here === undefined || (one !== here && topOf(one) > topOf(here) + 1);
const isBefore = (one: Element, here: Element | undefined): boolean =>
  here !== undefined && one !== here && topOf(one) < topOf(here) - 1;
