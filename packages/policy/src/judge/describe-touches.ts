import type { Touches as Named } from '@holdpoint/contract';
import type { Touches } from './call-facts.ts';

/** What the arguments of a call name, as rules see it. */
export const describeTouches = (touches: Named | undefined): Touches => ({
  paths: touches?.paths ?? [],
  commands: [],
  hosts: touches?.hosts ?? [],
});
