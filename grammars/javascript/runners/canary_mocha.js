// @ts-nocheck
{
  const run = globalThis.it || globalThis.test;
  const load = (name) => (typeof require === 'function' ? require(name) : process.getBuiltinModule(name));
  const assert = load('assert');

  run('holds @a@', () => {
    assert.deepStrictEqual([@1@, @2@, @3@].reverse(), [@3@, @2@, @1@]);
  });
  run('fails @b@', () => {
    assert.strictEqual(@4@, @5@);
  });
  run('fails @c@', () => {
    assert.deepStrictEqual({ @c@: @6@ }, { @c@: @7@ });
  });
  run('fails @d@', async () => {
    await assert.rejects(Promise.resolve(@8@));
  });
  run('fails @e@', () => {
    assert.throws(() => Number('@8@'));
  });
  run('fails @g@', () => {
    if (typeof @9@ === 'number') throw new Error('@a@');
  });
}
