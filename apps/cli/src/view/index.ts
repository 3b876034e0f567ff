export { openRunView, type RunView } from './open-run-view.ts';
export { openScreen, type Screen } from './screen.ts';
