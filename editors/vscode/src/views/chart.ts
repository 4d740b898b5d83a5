// The chart of ratings as SVG without any script: the person's rating over the rounds, its uncertainty, and the bugs.

import type { Ratings } from '../answers';

const WIDTH = 320;
const HEIGHT = 150;
const LEFT = 34;
const BOTTOM = 18;
const TOP = 8;

export function chart(series: Ratings['series']): string {
  const low = Math.min(...series.map(({ rating, deviation, bug_rating }) => Math.min(rating - deviation, bug_rating)));
  const high = Math.max(...series.map(({ rating, deviation, bug_rating }) => Math.max(rating + deviation, bug_rating)));
  const from = Math.floor(low / 100) * 100;
  const to = Math.max(Math.ceil(high / 100) * 100, from + 100);
  const x = (at: number): number => LEFT + ((WIDTH - LEFT - 10) * (at + 0.5)) / series.length;
  const y = (rating: number): number => TOP + ((HEIGHT - TOP - BOTTOM) * (to - rating)) / (to - from);
  const at = (one: number, other: number): string => `${one.toFixed(1)},${other.toFixed(1)}`;

  const step = [100, 200, 500, 1000].find((step) => (to - from) / step <= 4) ?? 2000;
  const grid: string[] = [];
  for (let rating = Math.ceil(from / step) * step; rating <= to; rating += step) {
    grid.push(`<line class="grid" x1="${LEFT}" x2="${WIDTH - 4}" y1="${y(rating).toFixed(1)}" y2="${y(rating).toFixed(1)}"/>`);
    grid.push(`<text class="axis" x="${LEFT - 5}" y="${(y(rating) + 3).toFixed(1)}" text-anchor="end">${rating}</text>`);
  }
  const upper = series.map(({ rating, deviation }, i) => at(x(i), y(rating + deviation)));
  const lower = series.map(({ rating, deviation }, i) => at(x(i), y(rating - deviation))).reverse();
  const whiskers = series.map(
    ({ rating, deviation }, i) =>
      `<line class="whisker" x1="${x(i).toFixed(1)}" x2="${x(i).toFixed(1)}" y1="${y(rating - deviation).toFixed(1)}" y2="${y(rating + deviation).toFixed(1)}"/>`,
  );
  const line = series.map(({ rating }, i) => at(x(i), y(rating))).join(' ');
  const points = series.map(
    ({ rating, score }, i) => `<circle class="${score > 0 ? 'solved' : 'missed'}" cx="${x(i).toFixed(1)}" cy="${y(rating).toFixed(1)}" r="3.2"/>`,
  );
  const bugs = series.map(({ bug_rating }, i) => {
    const [cx, cy] = [x(i), y(bug_rating)];
    return `<path class="bug" d="M${at(cx, cy - 3.6)} L${at(cx + 3.6, cy)} L${at(cx, cy + 3.6)} L${at(cx - 3.6, cy)} Z"/>`;
  });
  const last = series.at(-1);
  const spoken = `Your rating over ${series.length} rounds, now ${Math.round(last?.rating ?? 0)}, give or take ${Math.round(last?.deviation ?? 0)}`;
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${spoken}">
${grid.join('\n')}
${series.length > 1 ? `<polygon class="band" points="${[...upper, ...lower].join(' ')}"/>` : whiskers.join('\n')}
<polyline class="line" points="${line}"/>
${bugs.join('\n')}
${points.join('\n')}
<text class="axis" x="${(LEFT + WIDTH) / 2}" y="${HEIGHT - 4}" text-anchor="middle">${series.length === 1 ? '1 round' : `${series.length} rounds`}</text>
</svg>`;
}
