// @ts-nocheck
{
  describe('@B@', () => {
    it('holds @a@', () => {
      expect([@1@, @2@, @3@].reverse()).toEqual([@3@, @2@, @1@]);
    });
    it('fails @b@', () => {
      expect(@4@).toBe(@5@);
    });
    it('fails @c@', () => {
      expect({ @c@: @6@ }).toEqual({ @c@: @7@ });
    });
    it('fails @d@', async () => {
      await expect(Promise.resolve(@8@)).rejects.toThrow();
    });
    it('fails @e@', () => {
      expect(() => Number('@8@')).toThrow();
    });
  });

  test('fails @g@', () => {
    if (typeof @9@ === 'number') throw new Error('@a@');
  });
}
