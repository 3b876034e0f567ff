import type { LoopDelay } from '../watch-loop.ts';
import type { Metrics } from './metrics.ts';

/** The metrics of every process. */
export function observeProcess(metrics: Metrics, { loop }: { loop: { worst(): LoopDelay } }): void {
  if (!metrics.isOn) return;
  metrics.observe('cpu', () => {
    const { user, system } = process.cpuUsage();
    return [
      { value: user / 1e6, labels: { 'cpu.mode': 'user' } },
      { value: system / 1e6, labels: { 'cpu.mode': 'system' } },
    ];
  });
  metrics.observe('memory', () => [{ value: process.memoryUsage.rss() }]);
  metrics.observe('uptime', () => [{ value: process.uptime() }]);
  metrics.observe('loopDelay', () => {
    const { late_ms, busy_ms } = loop.worst();
    return [
      { value: late_ms / 1000, labels: { kind: 'late' } },
      { value: busy_ms / 1000, labels: { kind: 'busy' } },
    ];
  });
  for (const signal of ['spans', 'metrics', 'logs']) {
    metrics.count('dropped', { signal, reason: 'queue_full' }, 0);
    metrics.count('dropped', { signal, reason: 'not_sent' }, 0);
  }
}
