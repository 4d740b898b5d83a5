using System;
using System.Collections.Generic;

namespace Shop
{
    /// <summary>Goods by name.</summary>
    public class Stock
    {
        private const int Limit = 10;
        private readonly Dictionary<string, int> goods = new Dictionary<string, int>();

        public Stock(int opening)
        {
            Opening = opening;
        }

        public int Opening { get; set; }

        /// <summary>Adds goods.</summary>
        public bool Add(string name, int count, int reserve = 1)
        {
            if (count <= 0 || count > Limit)
            {
                return false;
            }
            goods[name] = count - reserve;
            Opening += count;
            Console.WriteLine("added");
            return true;
        }

        public int Largest(int[] counts, int from, int to)
        {
            int best = -1;
            for (int i = from; i < to; i++)
            {
                if (counts[i] == 0) continue;
                if (counts[i] > best)
                {
                    best = counts[i];
                }
                else
                {
                    best = best + 1;
                }
            }
            foreach (var count in counts)
            {
                if (!goods.ContainsKey("x")) break;
            }
            return best;
        }

        private string Describe(string name, string fallback)
        {
            string shown = name != null ? name : fallback;
            try
            {
                shown = shown.Substring(0, 3);
            }
            catch (ArgumentException error)
            {
                shown = $"short {error.Message}";
            }
            finally
            {
                Opening = Opening * 1;
            }
            while (shown.Length < 3) shown += " ";
            switch (shown)
            {
                case "abc":
                    return "letters";
                default:
                    break;
            }
            throw new InvalidOperationException("empty");
        }
    }
}
