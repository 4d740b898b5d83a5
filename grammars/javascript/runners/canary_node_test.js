// @ts-nocheck
{
  const load = (name) => (typeof require === 'function' ? require(name) : process.getBuiltinModule(name));
  const { describe, it, test } = load('node:test');
  const assert = load('node:assert');

  test('holds @a@', () => {
    assert.deepStrictEqual([@1@, @2@, @3@].reverse(), [@3@, @2@, @1@]);
  });
  test('fails @b@', () => {
    assert.strictEqual(@4@, @5@);
  });
  test('fails @c@', () => {
    assert.deepStrictEqual({ @c@: @6@ }, { @c@: @7@ });
  });
  test('fails @d@', async () => {
    await assert.rejects(Promise.resolve(@8@));
  });
  test('fails @e@', () => {
    assert.throws(() => Number('@8@'));
  });
  describe('@B@', () => {
    it('fails @g@', () => {
      if (typeof @9@ === 'number') throw new Error('@a@');
    });
  });
}
