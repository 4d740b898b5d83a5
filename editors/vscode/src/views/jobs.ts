// The jobs of the repositories, those that run first, each to be cancelled.

import { duration, type JobLine } from '../answers';
import type { Running } from '../server';
import { type Node, themed } from './nodes';

export function jobNodes(folder: string, jobs: JobLine[], running: ReadonlyMap<string, Running>): Node[] {
  const rank = (job: JobLine): number => (job.state === 'running' ? 0 : 1);
  return [...jobs].sort((one, other) => rank(one) - rank(other)).map((job) => jobNode(folder, { ...job, progress: running.get(job.job)?.progress ?? job.progress }));
}

function jobNode(folder: string, job: JobLine): Node {
  const icons: Record<JobLine['state'], Node['icon']> = {
    running: themed('loading~spin'),
    done: themed('pass', 'testing.iconPassed'),
    failed: themed('error', 'testing.iconFailed'),
    cancelled: themed('circle-slash', 'testing.iconSkipped'),
    interrupted: themed('warning', 'list.warningForeground'),
  };
  const name = job.tool.replaceAll('_', ' ');
  const said = job.state === 'done' ? duration(job.seconds) : `${job.state}, ${duration(job.seconds)}`;
  return {
    id: job.job,
    label: name,
    description: job.state === 'running' ? job.progress || said : said,
    tooltip: job.error ?? (job.progress || name),
    icon: icons[job.state] ?? themed('circle-outline'),
    kind: job.state === 'running' ? 'job-running' : 'job',
    subject: { folder, job: job.job },
    spoken: `${name}, ${said}`,
  };
}
