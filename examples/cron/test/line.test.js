import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { due, matches, parse } from '../src/index.js';

const at = (text) => new Date(`${text}Z`);

describe('parse', () => {
  it('reads five fields and a command', () => {
    const line = parse('30 4 1 * * backup  --all');
    assert.deepEqual([line.minute, line.hour, line.day], [[30], [4], [1]]);
    assert.equal(line.command, 'backup --all');
  });

  it('passes over comments and empty lines', () => {
    assert.equal(parse('# nothing'), null);
    assert.equal(parse('   '), null);
  });

  it('knows short forms', () => {
    assert.deepEqual(parse('@Weekly tidy').weekday, [0]);
    assert.equal(parse('@hourly poll all').command, 'poll all');
    assert.throws(() => parse('@never x'), /@never is not known/);
  });

  it('refuses a line with fields missing', () => {
    assert.throws(() => parse('1 2 3 4'), /4 fields, not 5/);
  });
});

describe('matches', () => {
  it('wants minute and hour', () => {
    const line = parse('15 6 * * * x');
    assert.ok(matches(line, at('2024-05-01T06:15')));
    assert.ok(!matches(line, at('2024-05-01T06:16')));
    assert.ok(!matches(line, at('2024-05-01T07:15')));
  });

  it('wants day and weekday where one is free', () => {
    const line = parse('0 0 * * fri x');
    assert.ok(matches(line, at('2024-05-03T00:00')));
    assert.ok(!matches(line, at('2024-05-04T00:00')));
  });

  it('wants day or weekday where both are given', () => {
    const line = parse('0 0 13 * fri x');
    assert.ok(matches(line, at('2024-05-13T00:00')));
    assert.ok(matches(line, at('2024-05-03T00:00')));
    assert.ok(!matches(line, at('2024-05-02T00:00')));
  });

  it('wants the month', () => {
    assert.ok(!matches(parse('0 0 1 1 * x'), at('2024-02-01T00:00')));
  });
});

test('due lists the lines of a table in order', () => {
  const table = '# jobs\n0 * * * * first\n30 * * * * second\n0 5 * * * third\n';
  assert.deepEqual(due(table, at('2024-05-01T05:00')).map((line) => line.command), ['first', 'third']);
});
