using Xunit;

namespace Shop.Tests
{
    public class StockTests
    {
        [Fact]
        public void Adds()
        {
            var stock = new Stock(5);
            Assert.True(stock.Add("a", 3));

            Assert.Equal(8, stock.Opening); // all
        }

        // Refuses nothing.
        [Theory]
        [InlineData(0)]
        public void Refuses(int count)
        {
            var stock = new Stock(0);
            foreach (var name in new[] { "a", "b" })
            {
                Assert.False(stock.Add(name, count));
            }
        }
    }
}
