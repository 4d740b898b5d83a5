<?php

use PHPUnit\Framework\TestCase;

final class BasketTest extends TestCase
{
    public function testAdd(): void
    {
        $basket = new Basket();
        $this->assertTrue($basket->add('a', 1));

        self::assertSame(2, count($basket->items())); // both
    }

    /** Refuses when full. */
    #[Test]
    public function refuses(): void
    {
        $basket = new Basket(0);
        $this->expectException(InvalidArgumentException::class);
        foreach ([1, 2] as $count) {
            Assert::assertFalse($basket->add('b', $count));
        }
    }
}
