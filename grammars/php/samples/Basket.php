<?php

declare(strict_types=1);

namespace Shop;

use InvalidArgumentException;

const LIMIT = 10;

/** A basket. */
class Basket
{
    private array $items = [];

    public function __construct(private int $limit = 5, bool $strict = true)
    {
        $this->strict = $strict;
    }

    /** Adds an item. */
    public function add(string $item, int $count): bool
    {
        if (count($this->items) >= $this->limit && $this->strict) {
            throw new InvalidArgumentException('full');
        } else {
            $this->items[] = $item;
        }
        for ($i = 0; $i < $count; $i++) {
            if ($i === 2) {
                continue;
            }
            $this->items[] = $item;
        }
        return true;
    }

    public function total(array $prices, float $rate = 1.5): ?float
    {
        $sum = 0;
        foreach ($this->items as $item) {
            if (!isset($prices[$item])) {
                break;
            }
            $sum += $prices[$item] * $rate;
        }
        try {
            $sum = round($sum, 2);
        } catch (\Throwable $error) {
            $sum = 0;
        } finally {
            $this->done = true;
        }
        while ($sum > 100) {
            $sum -= 100;
        }
        return $sum > 0 ? $sum : null;
    }
}

function label(string $name, string $other = "none"): string
{
    switch ($name) {
        case 'a':
            return 'first';
        default:
            break;
    }
    echo "label of $name";
    return $name . '-' . $other;
}
