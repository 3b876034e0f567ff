import { Component, type ReactNode } from 'react';
import { Button } from '../parts/button.tsx';
import { ProblemNote } from '../parts/text.tsx';

/** Keeps a defect of one page from taking the others along. `at` changes with the address: the next page begins without it. */
export class Failure extends Component<{ at: string; children: ReactNode }, { error: unknown; at: string }> {
  override state = { error: undefined as unknown, at: this.props.at };

  static getDerivedStateFromError = (error: unknown) => ({ error });

  static getDerivedStateFromProps = ({ at }: { at: string }, state: { at: string }) =>
    at === state.at ? null : { error: undefined, at };

  override render() {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <div className="page narrow">
        <ProblemNote error={isOldBuild(error) ? new Error('Holdpoint was updated since this page was loaded.') : error}>
          <Button onClick={() => location.reload()}>Load the page again</Button>
        </ProblemNote>
      </div>
    );
  }
}

/** A part that is loaded when needed is gone once the server has another build. */
const isOldBuild = (error: unknown): boolean =>
  error instanceof TypeError && /dynamically imported module|module script/i.test(error.message);
